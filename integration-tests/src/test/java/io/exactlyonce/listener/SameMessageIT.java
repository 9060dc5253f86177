package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * SQS delivers one message twice, with the same id and different receipt handles. ElasticMQ then refuses the old
 * handle, so the first delivery also loses its visibility timeout. AWS accepts the old handle.
 */
@UsesSqs
class SameMessageIT {

    private static final int WINDOW_SECONDS = 2;
    private static final SqsServer SQS = SqsServer.shared();

    private String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start(Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.put("test.queue", queue);
        return TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(), all, BlockingListener.class, SqsRequests.class);
    }

    @Test
    void messageWhoseDeleteFailsIsRedeliveredAndIsAcknowledgedAsADuplicate() {
        try (TestApplication application = start(Map.of())) {
            SqsRequests requests = application.bean(SqsRequests.class);
            requests.failNext(DeleteMessageBatchRequest.class, 1);
            application.bean(BlockingListener.class).finish();
            SQS.send(queue, "o1");

            SQS.awaitEmpty(queue);
            assertOneMessageReceivedTwice(requests);
            assertThat(application.bean(BlockingListener.class).orders()).containsExactly("o1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.outcomes("already_completed")).isEqualTo(1);
        }
    }

    /**
     * SQS rejects a whole request if two entries share an id. Spring Cloud AWS uses the message's id as the entry's id.
     */
    @Test
    void messageThatIsTwiceInABatchOfDeletesIsDeletedAndSoAreTheOthers() {
        // The timeout is so long that no renewal comes before the message is received again.
        queue = SQS.createQueue(10 * WINDOW_SECONDS);
        try (TestApplication application = start(Map.of("spring.cloud.aws.sqs.listener.auto-startup", "false"))) {
            SqsRequests requests = application.bean(SqsRequests.class);
            BlockingListener listener = application.bean(BlockingListener.class);
            listener.finish();
            // The delete waits a second at most, so the message must be received again within a second. On moto, a poll
            // that waits may see the message later than that, so polls do not wait.
            application
                    .container("orders")
                    .configure(options -> options.acknowledgementThreshold(3).pollTimeout(Duration.ZERO));
            application.container("orders").start();
            SQS.send(queue, "o1");
            await().until(() -> application.claims("COMPLETED") == 1);
            exposeFirst(requests);
            await().until(() -> application.outcomes("already_completed") == 1);
            assertOneMessageReceivedTwice(requests);
            assertThat(requests.of(DeleteMessageBatchRequest.class)).isEmpty();

            SQS.send(queue, "o2");

            SQS.awaitEmpty(queue);
            assertThat(listener.orders()).containsExactly("o1", "o2");
            assertThat(application.claims("COMPLETED")).isEqualTo(2);
            assertThat(requests.of(DeleteMessageBatchRequest.class))
                    .singleElement()
                    .satisfies(request -> assertThat(request.entries()).hasSize(3));
        }
    }

    private void exposeFirst(SqsRequests requests) {
        SQS.expose(queue, requests.received().get(0).receiptHandle());
    }

    private static void assertOneMessageReceivedTwice(SqsRequests requests) {
        assertThat(requests.received()).hasSize(2);
        assertThat(requests.received())
                .extracting(Message::messageId)
                .containsOnly(requests.received().get(0).messageId());
        assertThat(requests.received()).extracting(Message::receiptHandle).doesNotHaveDuplicates();
    }
}
