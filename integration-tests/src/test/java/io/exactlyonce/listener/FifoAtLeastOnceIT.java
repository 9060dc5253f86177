package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.wire.AwsAnswers;
import io.exactlyonce.testing.wire.Trouble;
import io.exactlyonce.testing.wire.Troubles;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** FIFO queues with AWS's answers: receipt handles expire, and answers get lost. */
@ExtendWith(OutputCaptureExtension.class)
class FifoAtLeastOnceIT {

    private static final int WINDOW_SECONDS = 2;
    private static final int RECEIVES = 3;
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Troubles TROUBLES = new Troubles(new AwsAnswers(SqsServer.elasticMq(), System::nanoTime));
    private static final SqsServer SQS = SqsServer.through(TROUBLES);

    static class Steps {
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private final CountDownLatch finish = new CountDownLatch(1);

        List<String> calls() {
            return calls;
        }

        void finish() {
            finish.countDown();
        }

        @ExactlyOnceListener(id = "steps", queueNames = "${test.queue}", key = "#step")
        void handle(String step, Claim claim) throws InterruptedException {
            calls.add(step);
            if (step.startsWith("slow")) {
                finish.await();
            }
        }
    }

    private final String queue = SQS.createFifoQueue(WINDOW_SECONDS, RECEIVES);

    private TestApplication start() {
        Map<String, String> properties = new HashMap<>(SQS.properties());
        properties.put("test.queue", queue);
        return TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(), properties, Steps.class, SqsRequests.class);
    }

    @AfterEach
    void deleteQueues() {
        assertThat(TROUBLES.none()).as("what no request has met").isZero();
        SQS.deleteQueue(queue);
        SQS.deleteQueue(SqsServer.deadLettersOf(queue));
    }

    private void assertHandledInOrder(TestApplication application, String... steps) {
        await().atMost(SOON).until(() -> SQS.size(queue) == 0);
        assertThat(application.bean(Steps.class).calls()).containsExactly(steps);
        assertThat(SQS.size(SqsServer.deadLettersOf(queue))).isZero();
    }

    /**
     * The delete of the first delivery is refused, because the message was received again. The second delivery is then
     * a duplicate, and its group waits for it.
     */
    @Test
    void deleteWithAHandleThatHasExpiredIsMadeGoodByTheNextDelivery(CapturedOutput output) {
        CountDownLatch received = new CountDownLatch(2);
        CompletableFuture<Void> refused = new CompletableFuture<>();
        Trouble first = (call, server) -> {
            received.countDown();
            return server.answer(call);
        };
        Trouble heldBack = (call, server) -> {
            received.countDown();
            return Trouble.held(refused).meet(call, server);
        };
        try (TestApplication application = start()) {
            TROUBLES.always(queue, "ChangeMessageVisibilityBatch", Trouble.REQUEST_LOST);
            TROUBLES.next(queue, "ReceiveMessage", first);
            TROUBLES.always(queue, "ReceiveMessage", heldBack);
            SQS.send(queue, "a", "1", "slow");
            SQS.send(queue, "a", "2", "next");
            await().atMost(SOON).until(() -> received.getCount() == 0);

            application.bean(Steps.class).finish();
            await().atMost(SOON).until(() -> output.getAll().contains("Deleting message"));
            assertThat(TROUBLES.none()).isZero();
            refused.complete(null);

            assertHandledInOrder(application, "slow", "next");
            SqsRequests requests = application.bean(SqsRequests.class);
            assertThat(requests.mostReceives()).isGreaterThanOrEqualTo(2);
        }
    }

    /** The SDK repeats the request with the same attempt id, and gets the same messages. */
    @Test
    void receiveWhoseAnswerIsLostIsRepeatedForTheSameMessages() {
        TROUBLES.next(queue, "ReceiveMessage", Trouble.ANSWER_LOST);
        SQS.send(queue, "a", "1", "first");
        SQS.send(queue, "a", "2", "second");
        try (TestApplication application = start()) {
            assertHandledInOrder(application, "first", "second");
        }
    }
}
