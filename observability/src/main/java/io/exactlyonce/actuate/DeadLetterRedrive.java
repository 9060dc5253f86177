package io.exactlyonce.actuate;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.visibility.QueueAttributes.Redrive;
import io.exactlyonce.visibility.SqsQueue;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** Has SQS move the messages of dead-letter queues back to the queues that they came from. */
public final class DeadLetterRedrive {

    private static final Logger log = LoggerFactory.getLogger(DeadLetterRedrive.class);

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(5);

    private static final int FORBIDDEN = 403;

    private static final String RIGHTS =
            "allow sqs:StartMessageMoveTask, sqs:ReceiveMessage, sqs:DeleteMessage and sqs:GetQueueAttributes on it, and"
                    + " sqs:SendMessage on the queue; where they are encrypted, kms:Decrypt and kms:GenerateDataKey on their key";

    private static final String CREDENTIALS = "look at the credentials of the application's SQS client";

    private static final String LOOK =
            "look whether one is under way, for SQS runs one of a queue at a time (aws sqs list-message-move-tasks"
                    + " --source-arn %s); a server other than AWS may not know StartMessageMoveTask";

    /**
     * What became of redrives.
     *
     * @param redriven ARNs of the dead-letter queues whose messages SQS moves
     * @param refused those whose messages it does not move, as far as is known
     */
    public record Redrives(List<String> redriven, List<Refusal> refused) {}

    /**
     * Why a redrive has not begun, as far as is known.
     *
     * @param queue the dead-letter queue's ARN
     * @param reason what SQS answered, in its own words, or that it did not
     * @param remedy what to do about it
     */
    public record Refusal(String queue, String reason, String remedy) {}

    /**
     * Starts to move messages, of each dead-letter queue once; SQS goes on with it. Takes 5 s at most for each. A queue that has
     * none, or whose dead-letter queue is not known, is left out.
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
                var unused = queue.client()
                        .startMessageMoveTask(request -> request.sourceArn(source)
                                .overrideConfiguration(limits -> limits.apiCallTimeout(LONGEST_REQUEST)))
                        .join();
                redriven.add(source);
            } catch (RuntimeException failure) {
                refused.add(refusal(source, Causes.unwrap(failure)));
            }
        });
        return new Redrives(redriven, refused);
    }

    /** Of an answer only the first line, since what follows may quote the request; of any other failure only what it is. */
    private static Refusal refusal(String source, Throwable failure) {
        String reason = "SQS could not be asked, which the log tells more of: "
                + failure.getClass().getSimpleName();
        String remedy = LOOK.formatted(source);
        if (failure instanceof ApiCallTimeoutException) {
            reason = "no answer within %d s: it may have begun".formatted(LONGEST_REQUEST.toSeconds());
        } else if (failure instanceof SqsException answer) {
            AwsErrorDetails details = answer.awsErrorDetails();
            String code = details == null ? null : details.errorCode();
            reason = code == null
                    ? "SQS answered with status " + answer.statusCode()
                    : code + ": "
                            + String.valueOf(details.errorMessage())
                                    .lines()
                                    .findFirst()
                                    .orElse("");
            if (code != null && code.contains("AccessDenied")) {
                remedy = RIGHTS;
            } else if (answer.statusCode() == FORBIDDEN) {
                remedy = CREDENTIALS;
            }
        }
        // The exception of an answer says no more than its first line does, but for what that leaves out.
        log.warn(
                "Redriving {} failed: {}; {}",
                source,
                reason,
                remedy,
                failure instanceof SqsException ? null : failure);
        return new Refusal(source, reason, remedy);
    }
}
