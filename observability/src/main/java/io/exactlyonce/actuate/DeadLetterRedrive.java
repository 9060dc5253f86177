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

/** Starts SQS message moves from dead-letter queues back to the source queues. */
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
     * The results of redrives.
     *
     * @param redriven ARNs of the dead-letter queues from which SQS moves messages
     * @param refused queues for which no move is known to have started
     */
    public record Redrives(List<String> redriven, List<Refusal> refused) implements OperationResponseBody {}

    /**
     * The reason why a redrive is not known to have started.
     *
     * @param queue the dead-letter queue's ARN
     * @param reason SQS's error, or how the request failed
     * @param remedy the fix
     */
    public record Refusal(String queue, String reason, String remedy) {}

    /**
     * Starts one message move for each dead-letter queue. SQS continues the moves after this method has returned. Each
     * queue takes at most 5 s. A subscription is skipped if its dead-letter queue is not known.
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
     * Returns the reason and the remedy for a failed request. If SQS returned an error, the reason quotes only the
     * first line of its text, because later lines may quote the request. For other failures, the reason contains no
     * text of the exception.
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
        // The stack trace of an SqsException adds nothing to the reason.
        log.warn(
                "Redriving {} failed: {}; {}",
                source,
                reason,
                remedy,
                failure instanceof SqsException ? null : PrintableException.of(failure));
        return new Refusal(source, reason, remedy);
    }
}
