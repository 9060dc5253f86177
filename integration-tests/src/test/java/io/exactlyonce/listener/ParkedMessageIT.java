package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.DeviatesOn;
import io.exactlyonce.testing.SqsProduct;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The message of a parked key leaves its queue soon, with one log line, and delays its group only briefly. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class ParkedMessageIT {

    private static final SqsServer SQS = SqsServer.shared();

    /** The backoff of failures would take two minutes for a message with eight receives. */
    private static final Duration SOON = Duration.ofSeconds(20);

    static class CarrierRefused extends RuntimeException {}

    /** A carrier that refuses some orders until the test makes it accept them. */
    abstract static class Carrier {
        private final List<String> handled = new CopyOnWriteArrayList<>();
        private volatile boolean acceptsAll;

        /** The bean is a proxy, so its fields are not those of its target. */
        List<String> handled() {
            return handled;
        }

        void acceptAll() {
            acceptsAll = true;
        }

        void ship(String order) {
            handled.add(order);
            if (!acceptsAll && order.startsWith("refused")) {
                throw new CarrierRefused();
            }
        }

        BatchResult shipAll(List<String> orders) {
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < orders.size(); index++) {
                try {
                    ship(orders.get(index));
                } catch (CarrierRefused refused) {
                    result = result.andFailed(index, refused);
                }
            }
            return result;
        }
    }

    static class Single extends Carrier {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#order",
                parkFor = CarrierRefused.class)
        void on(String order) {
            ship(order);
        }
    }

    static class Batch extends Carrier {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#payload",
                parkFor = CarrierRefused.class)
        BatchResult on(List<String> orders) {
            return shipAll(orders);
        }
    }

    static class SingleTransaction extends Carrier {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#order",
                parkFor = CarrierRefused.class,
                effects = Effects.DATABASE)
        void on(String order) {
            ship(order);
        }
    }

    static class BatchTransaction extends Carrier {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#payload",
                parkFor = CarrierRefused.class,
                effects = Effects.DATABASE)
        BatchResult on(List<String> orders) {
            return shipAll(orders);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Single.class, Batch.class, SingleTransaction.class, BatchTransaction.class})
    void messageOfAParkedKeyIsSoonADeadLetter(Class<? extends Carrier> listener, CapturedOutput output) {
        String deadLetters = SQS.createQueue(30);
        String queue = SQS.createQueue(30, deadLetters, 8);
        for (String order : List.of("one", "refused", "two")) {
            SQS.send(queue, order);
        }
        try (TestApplication application = TestApplication.on(queue, listener)) {
            await().atMost(SOON).until(() -> SQS.size(deadLetters) == 1 && SQS.size(queue) == 0);

            assertParkedOnce(application, 2, output);
            assertThat(bodyIn(deadLetters)).isEqualTo("refused");
            assertThat(application.bean(listener).handled())
                    .contains("one", "two")
                    .containsOnlyOnce("refused");
        }
    }

    /** The rest of the group is received as often as its head, and is handled when the head leaves. */
    @ParameterizedTest
    @ValueSource(classes = {Single.class, Batch.class, SingleTransaction.class, BatchTransaction.class})
    @DeviatesOn(server = SqsProduct.LOCALSTACK, reason = DeviatesOn.GROUP_IN_FLIGHT)
    void groupContinuesBehindAParkedMessage(Class<? extends Carrier> listener, CapturedOutput output) {
        String queue = SQS.createFifoQueue(30, 4);
        for (String order : List.of("one", "refused", "two", "three")) {
            SQS.send(queue, "group", order, order);
        }
        try (TestApplication application = TestApplication.on(queue, listener)) {
            await().atMost(SOON).until(() -> SQS.size(SqsServer.deadLettersOf(queue)) == 1 && SQS.size(queue) == 0);

            assertParkedOnce(application, 3, output);
            assertThat(bodyIn(SqsServer.deadLettersOf(queue))).isEqualTo("refused");
            List<String> handled = application.bean(listener).handled();
            assertThat(handled.stream().distinct()).containsExactly("one", "refused", "two", "three");
        }
    }

    private static String bodyIn(String queue) {
        String url = SQS.urlOf(queue);
        return SQS.client()
                .receiveMessage(request -> request.queueUrl(url).waitTimeSeconds(5))
                .messages()
                .get(0)
                .body();
    }

    private static void assertParkedOnce(TestApplication application, int completed, CapturedOutput output) {
        assertThat(application.claims("PARKED")).isOne();
        assertThat(application.claims("COMPLETED")).isEqualTo(completed);
        assertThat(output.getOut().lines().filter(line -> line.contains(" WARN ") && line.contains("parked")))
                .singleElement()
                .asString()
                .contains(
                        "failed with " + CarrierRefused.class.getName(), "moves the message to the dead-letter queue");
        assertThat(output).doesNotContain("next attempt");
    }
}
