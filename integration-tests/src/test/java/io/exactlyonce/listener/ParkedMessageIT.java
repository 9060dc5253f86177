package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The message of a parked key leaves its queue soon, with one line of the log, and holds no group back for long. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class ParkedMessageIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class CarrierRefused extends RuntimeException {}

    static class Journal {
        final List<String> handled = new CopyOnWriteArrayList<>();

        /** The bean is a proxy, whose fields are not those of its target. */
        List<String> handled() {
            return handled;
        }

        void handle(String order) {
            handled.add(order);
            if (order.startsWith("refused")) {
                throw new CarrierRefused();
            }
        }
    }

    static class Single extends Journal {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#order",
                parkFor = CarrierRefused.class)
        void on(String order) {
            handle(order);
        }
    }

    @Test
    void messageOfAParkedKeyIsSoonADeadLetter(CapturedOutput output) {
        String deadLetters = SQS.createQueue(30);
        String queue = SQS.createQueue(30, deadLetters, 8);
        try (TestApplication application = TestApplication.on(queue, Single.class)) {
            SQS.send(queue, "refused");
            SQS.send(queue, "accepted");

            // With the backoff of failures that took two minutes.
            await().atMost(Duration.ofSeconds(20)).until(() -> SQS.size(deadLetters) == 1 && SQS.size(queue) == 0);

            assertThat(application.claims("PARKED")).isOne();
            assertThat(application.bean(Single.class).handled()).containsExactlyInAnyOrder("refused", "accepted");
            assertThat(output.getOut().lines().filter(line -> line.contains(" WARN ") && line.contains("parked")))
                    .singleElement()
                    .asString()
                    .contains(
                            "failed with " + CarrierRefused.class.getName(),
                            "moves the message to the dead-letter queue");
            assertThat(output).doesNotContain("next attempt");
        }
    }

    /** The rest of the group is received as often as its head, and is handled when the head leaves. */
    @Test
    void groupContinuesBehindAParkedMessageInItsOrder() {
        String queue = SQS.createFifoQueue(30, 4);
        try (TestApplication application = TestApplication.on(queue, Single.class)) {
            for (String order : List.of("one", "refused", "two", "three")) {
                SQS.send(queue, "group", order, order);
            }

            await().atMost(Duration.ofSeconds(20))
                    .until(() -> application.claims("COMPLETED") == 3 && SQS.size(queue) == 0);

            List<String> handled = application.bean(Single.class).handled();
            assertThat(handled.stream().distinct()).containsExactly("one", "refused", "two", "three");
            await().until(() -> SQS.size(SqsServer.deadLettersOf(queue)) == 1);
        }
    }
}
