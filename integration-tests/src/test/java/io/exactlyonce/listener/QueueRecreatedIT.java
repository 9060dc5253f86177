package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;

/** A queue is deleted, and created again, while its listener runs and a handler is at work. */
@UsesSqs
class QueueRecreatedIT {

    private static final int WINDOW_SECONDS = 2;
    private static final int RETRIES = 3;
    private static final SqsServer SQS = SqsServer.shared();

    static class Listener {
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private final CountDownLatch finish = new CountDownLatch(1);

        List<String> calls() {
            return calls;
        }

        void finish() {
            finish.countDown();
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) throws InterruptedException {
            calls.add(order);
            if (order.startsWith("slow")) {
                finish.await();
            }
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    @Test
    void listenerContinuesByItselfNothingIsStuckAndEachEffectHappensOnce() {
        try (TestApplication application = TestApplication.on(queue, Listener.class, SqsRequests.class)) {
            Listener listener = application.bean(Listener.class);
            SqsRequests requests = application.bean(SqsRequests.class);
            SQS.send(queue, "slow");
            await().until(() -> listener.calls().equals(List.of("slow")));

            SQS.deleteQueue(queue);
            int before = requests.of(ChangeMessageVisibilityBatchRequest.class).size();
            await().until(() -> application.renewals("window", "lost") == 1);
            assertThat(requests.of(ChangeMessageVisibilityBatchRequest.class).size() - before)
                    .isLessThanOrEqualTo(1 + RETRIES);

            SQS.createQueue(queue, WINDOW_SECONDS);
            listener.finish();
            await().until(() -> application.claims("COMPLETED") == 1);
            await().until(() -> !requests.of(DeleteMessageBatchRequest.class).isEmpty());
            SQS.send(queue, "slow");
            SQS.send(queue, "next");

            await().atMost(Duration.ofSeconds(30)).until(() -> application.claims("COMPLETED") == 2);
            SQS.awaitEmpty(queue);
            assertThat(listener.calls()).containsExactly("slow", "next");
            int soFar = requests.of(ChangeMessageVisibilityBatchRequest.class).size();
            await().during(Duration.ofSeconds(WINDOW_SECONDS))
                    .until(() -> requests.of(ChangeMessageVisibilityBatchRequest.class)
                                    .size()
                            == soFar);
        }
    }
}
