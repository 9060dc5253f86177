package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.Message;

/** SQS throttles every request for a minute. */
@LoadTrial
class ThrottledQueueIT {

    private static final int MESSAGES = Trial.choose(500, 100);
    private static final Duration THROTTLED = Duration.ofSeconds(Trial.choose(60, 6));

    /**
     * The last retry of a renewal comes at least 0.32 visibility timeouts after the first attempt. A visibility timeout
     * of more than three times the throttling is therefore kept, whenever the throttling begins.
     */
    private static final int LONG_WINDOW_SECONDS = Trial.choose(190, 30);

    /** Half of this timeout passes before the throttling ends, so the timeout cannot be kept. */
    private static final int SHORT_WINDOW_SECONDS = Trial.choose(30, 6);

    private static final int MOST_RECEIVES = 5;

    /** A renewal is tried four times, and the SDK sends each try four times. A full request has ten messages. */
    private static final int MOST_REFUSALS_OF_TEN = 16;

    private static final SqsServer SQS = SqsServer.shared();

    static class Patient extends HeldOrders {
        @ExactlyOnceListener(id = "patient", queueNames = "${test.patient}", key = "#order")
        CompletableFuture<Void> order(String order) {
            return handle(order);
        }
    }

    static class Hasty extends HeldOrders {
        @ExactlyOnceListener(id = "hasty", queueNames = "${test.hasty}", key = "#order")
        CompletableFuture<Void> order(String order) {
            return handle(order);
        }
    }

    private final String deadLetters = SQS.createQueue(30);
    private final String patient = SQS.createQueue(LONG_WINDOW_SECONDS, deadLetters, MOST_RECEIVES);
    private final String hasty = SQS.createQueue(SHORT_WINDOW_SECONDS, deadLetters, MOST_RECEIVES);

    @Test
    void visibilityTimeoutsThatCanBeKeptAreKeptAndAllIsHandledOnce() throws Exception {
        try (TestApplication application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(),
                Map.of(
                        "exactly-once.claim.lease",
                        "60s",
                        "test.patient",
                        patient,
                        "test.hasty",
                        hasty,
                        "spring.cloud.aws.sqs.listener.max-concurrent-messages",
                        String.valueOf(MESSAGES)),
                Patient.class,
                Hasty.class,
                ThrottledSqs.class,
                SqsRequests.class)) {
            HeldOrders patientOrders = application.bean(Patient.class);
            HeldOrders hastyOrders = application.bean(Hasty.class);
            ThrottledSqs sqs = application.bean(ThrottledSqs.class);
            Senders.send(SQS, patient, MESSAGES, number -> "patient-" + number);
            Senders.send(SQS, hasty, MESSAGES, number -> "hasty-" + number);
            await().atMost(Duration.ofSeconds(60))
                    .until(() ->
                            patientOrders.runs().size() + hastyOrders.runs().size() == 2 * MESSAGES);
            // The first renewals of the long visibility timeouts are then due while SQS throttles.
            Duration early = Duration.ofMillis((long) (0.4 * LONG_WINDOW_SECONDS * 1e3));
            await().pollDelay(early).atMost(early.plusSeconds(20)).until(() -> claimed(application) == 2 * MESSAGES);

            sqs.throttle(true);
            // Some handlers finish before SQS is available again. Their deletes fail, and their messages are
            // redelivered.
            hastyOrders.release(MESSAGES / 10);
            Trial.hold(
                    THROTTLED,
                    () -> Trial.lost(application, "patient", "lease") + Trial.lost(application, "hasty", "lease") == 0);
            int refused = sqs.refused();
            int refusedRenewals = sqs.refused(ChangeMessageVisibilityBatchRequest.class);
            sqs.throttle(false);
            double lost = Trial.lost(application, "hasty", "window");
            hastyOrders.release();
            SQS.awaitEmpty(hasty);
            Duration renewal = Duration.ofSeconds(LONG_WINDOW_SECONDS / 2);
            assertThat(Trial.lost(application, "patient", "window")).isZero();
            assertThat(claimed(application)).isEqualTo(2 * MESSAGES);
            patientOrders.release();
            await().atMost(renewal.plusSeconds(30)).until(() -> SQS.size(patient) == 0);

            patientOrders.assertEachOnce(MESSAGES);
            hastyOrders.assertEachOnce(MESSAGES);
            assertThat(application.claims("COMPLETED")).isEqualTo(2 * MESSAGES);
            assertThat(SQS.size(deadLetters)).isZero();
            assertThat(Trial.lost(application, "patient", "window")).isZero();
            assertThat(receives(application, "patient-")).isEqualTo(MESSAGES);
            // Some batches of renewals are not full, so the same allowance applies as without failures.
            assertThat(refusedRenewals).isLessThan(2 * MESSAGES / 10 * MOST_REFUSALS_OF_TEN * 2);
            Trial.note(
                    "6-throttled",
                    "SQS throttles for %d s; 2 x %d messages in flight, windows of %d and of %d s"
                            .formatted(THROTTLED.toSeconds(), MESSAGES, LONG_WINDOW_SECONDS, SHORT_WINDOW_SECONDS),
                    "each handled once; no lease and no long window lost, none of their messages received again; dead-letter queue empty",
                    "%,.0f of %,d short windows lost; %,d requests refused, of them %,d renewals"
                            .formatted(lost, MESSAGES, refused, refusedRenewals));
        }
    }

    private static int claimed(TestApplication application) {
        return application.claims("HELD") + application.claims("COMPLETED");
    }

    private static long receives(TestApplication application, String prefix) {
        return application.bean(SqsRequests.class).received().stream()
                .map(Message::body)
                .filter(body -> body.startsWith(prefix))
                .count();
    }
}
