package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.SqsException;
import software.amazon.awssdk.services.sqs.model.SqsRequest;

/** Requests for longer visibility fail while a handler runs. */
@UsesSqs
class RenewalFailureIT {

    private static final int WINDOW_SECONDS = 2;
    private static final SqsServer SQS = SqsServer.shared();

    private static final List<Class<? extends SqsRequest>> ALL = List.of(
            ChangeMessageVisibilityBatchRequest.class, ReceiveMessageRequest.class, DeleteMessageBatchRequest.class);

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start() {
        return TestApplication.on(queue, BlockingListener.class, SqsRequests.class);
    }

    private void assertHandledOnce(TestApplication application) {
        SQS.awaitEmpty(queue);
        assertThat(application.bean(BlockingListener.class).orders()).containsExactly("o1");
        assertThat(application.claims("COMPLETED")).isEqualTo(1);
    }

    @Test
    void renewalThatFailsOnceIsRetriedBeforeTheVisibilityTimeoutEnds() {
        try (TestApplication application = start()) {
            SqsRequests requests = application.bean(SqsRequests.class);
            requests.failNext(ChangeMessageVisibilityBatchRequest.class, 1);
            SQS.send(queue, "o1");

            await().until(() -> application.renewals("window", "succeeded") >= 3);
            assertThat(application.renewals("window", "failed")).isEqualTo(1);
            assertThat(application.renewals("window", "lost")).isZero();
            application.bean(BlockingListener.class).finish();

            assertHandledOnce(application);
            assertThat(requests.received()).hasSize(1);
        }
    }

    @Test
    void messageWhoseVisibilityTimeoutIsLostIsRedeliveredButHandledOnce() {
        try (TestApplication application = start()) {
            SqsRequests requests = application.bean(SqsRequests.class);
            requests.failAll(ChangeMessageVisibilityBatchRequest.class);
            SQS.send(queue, "o1");

            await().until(() -> application.renewals("window", "lost") == 1);
            await().until(() -> application.outcomes("held_elsewhere") >= 1);
            assertThat(requests.received()).hasSizeGreaterThanOrEqualTo(2);
            requests.failNone(ChangeMessageVisibilityBatchRequest.class);
            application.bean(BlockingListener.class).finish();

            assertHandledOnce(application);
        }
    }

    /**
     * Handlers continue under their claims. When the message is redelivered, their recorded completions suppress it.
     */
    @ParameterizedTest
    @CsvSource({"RequestThrottled, 403", "ExpiredToken, 403", "ServiceUnavailable, 503"})
    void handlerContinuesUnderItsClaimWhileSqsAnswersNothingElseForTwoVisibilityTimeouts(String code, int status) {
        try (TestApplication application = start()) {
            SqsRequests requests = application.bean(SqsRequests.class);
            SQS.send(queue, "o1");
            await().until(() -> application.bean(BlockingListener.class).calls().size() == 1);
            requests.failBy(SqsException.builder()
                    .statusCode(status)
                    .awsErrorDetails(AwsErrorDetails.builder().errorCode(code).build())
                    .message(code)
                    .build());
            ALL.forEach(requests::failAll);
            int before = requests.of(ChangeMessageVisibilityBatchRequest.class).size();

            await().during(Duration.ofSeconds(2 * WINDOW_SECONDS))
                    .atMost(Duration.ofSeconds(3 * WINDOW_SECONDS))
                    .until(() -> application.renewals("lease", "lost") == 0);
            await().until(() -> application.renewals("window", "lost") == 1);
            // The first attempt is due one second before the end, and no attempt begins in the last 0.1 s. Each pause
            // between attempts is a third of the remaining time, less up to a tenth as jitter. A pause is at least 0.1
            // s, and ends at a tick of 0.1 s. The shortest pauses are 3, 2, 2 and 1 ticks, which permit five attempts.
            // The longest are 4 and 3 ticks, which permit three.
            assertThat(requests.of(ChangeMessageVisibilityBatchRequest.class).size() - before)
                    .as("each after a third of what is left")
                    .isBetween(3, 5);
            application.bean(BlockingListener.class).finish();
            await().until(() -> application.claims("COMPLETED") == 1);
            ALL.forEach(requests::failNone);

            assertHandledOnce(application);
        }
    }
}
