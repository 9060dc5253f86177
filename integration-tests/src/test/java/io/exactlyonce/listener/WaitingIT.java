package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;

/**
 * Deliveries whose key is held elsewhere: by another handler of this application, or by a worker that exists only as a
 * claim in the store.
 */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class WaitingIT {

    private static final int WINDOW_SECONDS = 2;
    private static final int MAX_RECEIVE_COUNT = 3;

    /** The time that a few ticks, a buffered delete and a slow machine may take. */
    private static final Duration SOON = Duration.ofSeconds(6);

    private static final Duration LONG_LEASE = Duration.ofMinutes(2);
    private static final SqsServer SQS = SqsServer.shared();

    record Call(String order, int attempt, boolean inDoubt) {}

    static class Listener {
        private final List<Call> calls = new CopyOnWriteArrayList<>();
        private final CountDownLatch finish = new CountDownLatch(1);

        List<Call> calls() {
            return calls;
        }

        void finish() {
            finish.countDown();
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order, Claim claim) throws InterruptedException {
            calls.add(new Call(order, claim.attempt(), claim.isInDoubt()));
            finish.await();
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);
    private final String deadLetters = SQS.addDeadLetterQueue(queue, MAX_RECEIVE_COUNT);

    private TestApplication start(Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.put("test.queue", queue);
        return TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(), all, Listener.class, SqsRequests.class);
    }

    private ClaimRequest holdElsewhere(TestApplication application, String order, Duration lease) {
        ClaimRequest claim = new ClaimRequest(new ClaimKey(queue, order), UUID.randomUUID(), "another worker", lease);
        assertThat(application.bean(ClaimStore.class).claim(List.of(claim))).hasOnlyElementsOfType(Acquired.class);
        return claim;
    }

    private static double waiting(TestApplication application) {
        return application.gauge("exactly.once.waiting", "listener", "orders");
    }

    private void awaitWaiting(TestApplication application, int deliveries) {
        await().atMost(SOON).until(() -> waiting(application) == deliveries);
    }

    private void assertHandledSoon(TestApplication application, Call... calls) {
        await().atMost(SOON).until(() -> SQS.size(queue) == 0);
        assertThat(application.bean(Listener.class).calls()).containsExactly(calls);
        assertThat(waiting(application)).isZero();
        assertThat(SQS.size(deadLetters)).isZero();
    }

    @Test
    void duplicateOfAHandlerThatTakesFourVisibilityTimeoutsIsReceivedOnceAndDeletedSoonAfterIt(CapturedOutput output) {
        try (TestApplication application = start(Map.of("exactly-once.audit.mode", "off"))) {
            Listener listener = application.bean(Listener.class);
            SQS.send(queue, "o1");
            await().until(() -> listener.calls().size() == 1);
            SQS.send(queue, "o1");
            awaitWaiting(application, 1);

            Duration fourWindows = Duration.ofSeconds(4 * WINDOW_SECONDS);
            await().during(fourWindows)
                    .atMost(fourWindows.plusSeconds(10))
                    .until(() -> waiting(application) == 1 && SQS.size(queue) == 2);
            listener.finish();

            assertHandledSoon(application, new Call("o1", 1, false));
            assertThat(application.bean(SqsRequests.class).mostReceives()).isEqualTo(1);
            // The audit of another test may report late.
            assertThat(output.toString().lines().filter(line -> line.contains(queue)))
                    .isNotEmpty()
                    .allMatch(line -> line.contains(" INFO "));
        }
    }

    @Test
    void keyOfAWorkerThatDiedIsTakenOverSoonAfterItsLease() {
        try (TestApplication application = start(Map.of())) {
            Duration lease = Duration.ofSeconds(3 * WINDOW_SECONDS);
            holdElsewhere(application, "o1", lease);
            application.bean(Listener.class).finish();
            SQS.send(queue, "o1");
            awaitWaiting(application, 1);

            await().atMost(lease.plus(SOON))
                    .until(() -> application.bean(Listener.class).calls().size() == 1);

            assertHandledSoon(application, new Call("o1", 2, true));
            assertThat(application.bean(SqsRequests.class).mostReceives()).isEqualTo(2);
        }
    }

    @Test
    void waitingDeliveriesHoldNeitherThreadNorPermit() {
        try (TestApplication application = start(Map.of(
                "spring.cloud.aws.sqs.listener.max-concurrent-messages", "2",
                "spring.cloud.aws.sqs.listener.max-messages-per-poll", "2"))) {
            holdElsewhere(application, "held", LONG_LEASE);
            application.bean(Listener.class).finish();
            for (int i = 0; i < 5; i++) {
                SQS.send(queue, "held");
            }
            await().atMost(Duration.ofSeconds(20)).until(() -> waiting(application) == 5);

            SQS.send(queue, "free");

            await().atMost(Duration.ofSeconds(20)).until(() -> SQS.size(queue) == 5);
            assertThat(application.bean(Listener.class).calls()).containsExactly(new Call("free", 1, false));
            assertThat(waiting(application)).isEqualTo(5);
        }
    }

    @Test
    void containerThatStopsReturnsWhatWaitsForOthersAndRenewsItNoMore() {
        try (TestApplication application = start(Map.of())) {
            holdElsewhere(application, "o1", LONG_LEASE);
            SQS.send(queue, "o1");
            awaitWaiting(application, 1);

            SqsRequests requests = application.bean(SqsRequests.class);
            application.container("orders").stop();

            assertThat(waiting(application)).isZero();
            await().atMost(SOON).until(() -> SQS.visible(queue) == 1);
            List<ChangeMessageVisibilityBatchRequest> changes = requests.of(ChangeMessageVisibilityBatchRequest.class);
            assertThat(changes).as("renewed until then, returned at last").isNotEmpty();
            // A renewal would come within half a visibility timeout, and hide the message from other consumers.
            Duration visibilityTimeout = Duration.ofSeconds(WINDOW_SECONDS);
            await().during(visibilityTimeout)
                    .atMost(visibilityTimeout.plus(SOON))
                    .until(() -> SQS.visible(queue) == 1);
            assertThat(requests.of(ChangeMessageVisibilityBatchRequest.class)).isEqualTo(changes);
            application.container("orders").start();
            awaitWaiting(application, 1);
            assertThat(application.bean(SqsRequests.class).mostReceives()).isEqualTo(2);
        }
    }
}
