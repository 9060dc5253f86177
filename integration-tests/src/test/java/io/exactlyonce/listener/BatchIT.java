package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MissingKeyException;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.testing.DeviatesOn;
import io.exactlyonce.testing.SqsProduct;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Batches of standard and FIFO queues, from the poll to the delete. */
@UsesSqs
class BatchIT {

    private static final int WINDOW_SECONDS = 4;
    private static final int RECEIVES = 5;
    private static final SqsServer SQS = SqsServer.shared();

    record Order(String orderId, int failures) {

        static String json(String orderId, int failures) {
            return "{\"orderId\":\"%s\",\"failures\":%d}".formatted(orderId, failures);
        }
    }

    static class Recorder {
        private final List<List<String>> batches = new CopyOnWriteArrayList<>();

        List<List<String>> batches() {
            return batches;
        }

        List<String> calls() {
            return batches.stream().flatMap(List::stream).toList();
        }

        List<String> callsOf(String prefix) {
            return calls().stream().filter(call -> call.startsWith(prefix)).toList();
        }

        BatchResult record(List<Order> orders, List<Claim> claims) {
            List<String> batch = new ArrayList<>();
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < orders.size(); index++) {
                Order order = orders.get(index);
                Claim claim = claims.get(index);
                claim.ensureHeld();
                assertThat(claim.key()).isEqualTo(order.orderId());
                batch.add(order.orderId());
                if (claim.attempt() <= order.failures()) {
                    result = result.andFailed(index, new IllegalStateException("attempt " + claim.attempt()));
                }
            }
            batches.add(batch);
            return result;
        }
    }

    static class Payloads extends Recorder {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#payload.orderId")
        BatchResult handle(List<Order> orders, List<Claim> claims) {
            return record(orders, claims);
        }
    }

    static class Unprotected extends Recorder {
        private final List<String> keyless = new CopyOnWriteArrayList<>();

        List<String> keyless() {
            return keyless;
        }

        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#payload.orderId",
                whenKeyMissing = MissingKeyPolicy.RUN_UNPROTECTED)
        void handle(List<Order> orders, List<Claim> claims) {
            for (int index = 0; index < orders.size(); index++) {
                Claim claim = claims.get(index);
                if (orders.get(index).orderId().isBlank()) {
                    assertThatThrownBy(claim::key).isInstanceOf(MissingKeyException.class);
                    assertThatThrownBy(claim::fence).isInstanceOf(IllegalStateException.class);
                    keyless.add("attempt " + claim.attempt());
                    assertThat(claim.attempt()).as("fails the first time").isGreaterThan(1);
                } else {
                    assertThat(claim.key()).isEqualTo(orders.get(index).orderId());
                }
            }
        }
    }

    private final String standard = SQS.createQueue(WINDOW_SECONDS);
    private final String fifo = SQS.createFifoQueue(WINDOW_SECONDS, RECEIVES);

    private static TestApplication start(Class<?> listener, String queue) {
        return TestApplication.on(queue, listener);
    }

    private void send(String group, String orderId, int failures) {
        SQS.send(fifo, group, UUID.randomUUID().toString(), Order.json(orderId, failures));
    }

    @Test
    void onlyTheNamedMessageIsRedelivered() {
        for (int number = 1; number <= 5; number++) {
            SQS.send(standard, Order.json("o" + number, number == 3 ? 1 : 0));
        }
        try (TestApplication application = start(Payloads.class, standard)) {
            SQS.awaitEmpty(standard);

            Payloads listener = application.bean(Payloads.class);
            assertThat(listener.calls()).containsExactlyInAnyOrder("o1", "o2", "o3", "o3", "o4", "o5");
            assertThat(listener.batches()).anyMatch(batch -> batch.size() > 1);
            assertThat(application.claims("COMPLETED")).isEqualTo(5);
            assertThat(application.outcomes("acquired")).isEqualTo(6);
        }
    }

    @Test
    void messageWithoutAKeyEndsNoOtherMessagesBatch() {
        SQS.send(standard, Order.json("o1", 0));
        SQS.send(standard, Order.json(" ", 0));
        SQS.send(standard, Order.json("o2", 0));
        try (TestApplication application = start(Payloads.class, standard)) {
            await().until(() -> SQS.size(standard) == 1);

            assertThat(application.bean(Payloads.class).calls()).containsExactlyInAnyOrder("o1", "o2");
        }
    }

    @Test
    void messageWithoutAKeyIsDeletedWithoutTheHandlerAndItsGroupContinuesIfItIsToBeSkipped() {
        send("a", "a1", 0);
        send("a", " ", 0);
        send("a", "a2", 0);
        try (TestApplication application = TestApplication.on(
                fifo, Map.of("exactly-once.listeners.orders.when-key-missing", "skip"), Payloads.class)) {
            SQS.awaitEmpty(fifo);

            assertThat(application.bean(Payloads.class).calls()).containsExactly("a1", "a2");
            assertThat(SQS.size(SqsServer.deadLettersOf(fifo))).isZero();
            assertThat(application.count("exactly.once.keys.missing", "listener", "orders", "policy", "skip"))
                    .isEqualTo(1);
            assertThat(application.claims("COMPLETED")).isEqualTo(2);
        }
    }

    @Test
    void messageWithoutAKeyIsHandledWithoutAClaimOnceADelivery() {
        SQS.send(standard, Order.json(" ", 0));
        try (TestApplication application = start(Unprotected.class, standard)) {
            SQS.send(standard, Order.json("o1", 0));
            SQS.awaitEmpty(standard);

            assertThat(application.bean(Unprotected.class).keyless()).containsExactly("attempt 1", "attempt 2");
            assertThat(application.count("exactly.once.keys.missing", "policy", "run_unprotected"))
                    .isEqualTo(2);
            assertThat(application.texts("SELECT key FROM exactly_once_claim")).containsExactly("o1");
        }
    }

    @Test
    @DeviatesOn(server = SqsProduct.LOCALSTACK, reason = DeviatesOn.GROUP_IN_FLIGHT)
    void groupStaysInOrderAlthoughTheFirstOfItWaitsForAnotherWorker() {
        send("a", "a1", 0);
        send("a", "a2", 0);
        send("b", "b1", 0);
        try (TestApplication application = start(Payloads.class, fifo, "a1")) {
            Payloads listener = application.bean(Payloads.class);
            await().until(() -> listener.calls().contains("b1"));
            assertThat(listener.callsOf("a")).isEmpty();

            SQS.awaitEmpty(fifo);

            assertThat(listener.callsOf("a")).containsExactly("a1", "a2");
            assertThat(application.outcomes("held_elsewhere")).isPositive();
        }
    }

    /** Starts an application whose database holds a claim of another worker for three seconds. */
    private static TestApplication start(Class<?> listener, String queue, String heldKey) {
        TestApplication application =
                TestApplication.on(queue, Map.of("spring.cloud.aws.sqs.listener.auto-startup", "false"), listener);
        application
                .bean(ClaimStore.class)
                .claim(List.of(new ClaimRequest(
                        new ClaimKey(queue, heldKey), UUID.randomUUID(), "another worker", Duration.ofSeconds(3))));
        application.container("orders").start();
        return application;
    }

    @Test
    void namedMessageOfAGroupIsRedeliveredAndTheLaterOnesThatTheHandlerGotAreDone() {
        send("a", "a1", 1);
        send("a", "a2", 0);
        send("b", "b1", 0);
        try (TestApplication application = start(Payloads.class, fifo)) {
            SQS.awaitEmpty(fifo);

            assertThat(application.bean(Payloads.class).callsOf("a")).containsExactlyInAnyOrder("a1", "a1", "a2");
            assertThat(application.bean(Payloads.class).callsOf("b")).containsExactly("b1");
            assertThat(application.claims("COMPLETED")).isEqualTo(3);
        }
    }

    @Test
    void sameKeyTwiceInAGroupIsHandledOnceAndTheGroupContinues() {
        send("a", "a1", 0);
        send("a", "a1", 0);
        send("a", "a2", 0);
        try (TestApplication application = start(Payloads.class, fifo)) {
            SQS.awaitEmpty(fifo);

            assertThat(application.bean(Payloads.class).calls()).containsExactly("a1", "a2");
            assertThat(SQS.size(SqsServer.deadLettersOf(fifo))).isZero();
        }
    }
}
