package io.exactlyonce.actuate;

import io.exactlyonce.boundary.AwsText;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.queue.QueueAttributes.Redrive;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** Asks SQS to move all messages of dead-letter queues back to their source queues ({@code StartMessageMoveTask}). */
public final class DeadLetterRedrive {

    private static final int LONGEST_REASON = 1_000;

    private static final Logger log = LoggerFactory.getLogger(DeadLetterRedrive.class);

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(5);

    private static final int FORBIDDEN = 403;

    private static final String RIGHTS =
            "allow sqs:StartMessageMoveTask, sqs:ReceiveMessage, sqs:DeleteMessage and sqs:GetQueueAttributes on it, and"
                    + " sqs:SendMessage on the queue; where they are encrypted, kms:Decrypt and kms:GenerateDataKey on their key";

    private static final String CREDENTIALS = "check the credentials of the application's SQS client";

    private static final String LOOK =
            "check whether one is running, because SQS runs one per queue at a time (aws sqs list-message-move-tasks"
                    + " --source-arn %s); servers other than AWS may lack StartMessageMoveTask";

    /**
     * The response to a redrive.
     *
     * @param redriven ARNs of the dead-letter queues from which SQS now moves messages
     * @param refused dead-letter queues for which SQS did not confirm that it moves messages
     */
    public record Redrives(List<String> redriven, List<Refusal> refused) implements OperationResponseBody {}

    /**
     * A dead-letter queue for which SQS did not confirm that it moves messages.
     *
     * @param queue the dead-letter queue's ARN
     * @param reason SQS's error, or how the request failed. After a timeout, SQS may still be moving messages
     * @param remedy how to fix the problem
     */
    public record Refusal(String queue, String reason, String remedy) {}

    /**
     * Asks SQS to move the messages of each dead-letter queue. SQS moves the messages later, in the background.
     *
     * <p>The request for each queue takes at most 5 s. A listener's queue is skipped if it has no dead-letter queue, or
     * if its attributes have not been read yet.
     */
    public Redrives start(List<Subscription> subscriptions) {
        Map<String, SqsQueue> queues = new LinkedHashMap<>();
        for (Subscription subscription : subscriptions) {
            if (subscription.visibility() instanceof SqsQueue queue) {
                Redrive known = queue.attributes().redrive();
                if (known != null) {
                    queues.putIfAbsent(known.target(), queue);
                }
            }
        }
        List<String> redriven = new ArrayList<>();
        List<Refusal> refused = new ArrayList<>();
        queues.forEach((source, queue) -> {
            try {
                queue.client()
                        .startMessageMoveTask(request -> request.sourceArn(source)
                                .overrideConfiguration(limits -> limits.apiCallTimeout(LONGEST_REQUEST)))
                        .thenRun(() -> redriven.add(source))
                        .join();
            } catch (RuntimeException failure) {
                refused.add(refusal(source, Causes.unwrap(failure)));
            }
        });
        return new Redrives(redriven, refused);
    }

    /**
     * Describes a failed request to the caller. Secrets must not leak, so an error of SQS is quoted only up to the end
     * of its first line. Later lines may contain the request. Messages of other exceptions are not quoted at all.
     */
    private static Refusal refusal(String source, Throwable failure) {
        String reason = "the request to SQS failed, and the log has details: "
                + failure.getClass().getSimpleName();
        String remedy = LOOK.formatted(source);
        if (failure instanceof ApiCallTimeoutException) {
            reason = "no response within %d s: it may have started".formatted(LONGEST_REQUEST.toSeconds());
        } else if (failure instanceof SqsException answer) {
            AwsErrorDetails details = answer.awsErrorDetails();
            String code = details == null ? null : details.errorCode();
            reason = code == null
                    ? "SQS answered with status " + answer.statusCode()
                    : OneLine.of(
                            code + ": "
                                    + AwsText.withoutValues(String.valueOf(details.errorMessage()))
                                            .lines()
                                            .findFirst()
                                            .orElse(""),
                            LONGEST_REASON);
            if (code != null && code.contains("AccessDenied")) {
                remedy = RIGHTS;
            } else if (answer.statusCode() == FORBIDDEN) {
                remedy = CREDENTIALS;
            }
        }
        // An SqsException is logged without a stack trace, because the logged reason already quotes SQS's error.
        log.warn(
                "Redriving {} failed: {}; {}",
                source,
                reason,
                remedy,
                failure instanceof SqsException ? null : PrintableException.of(failure));
        return new Refusal(source, reason, remedy);
    }
}
