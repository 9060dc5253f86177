package io.exactlyonce.actuate;

import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
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

    private final QueueAudit audit;

    /** @param audit knows queues' dead-letter queues */
    public DeadLetterRedrive(QueueAudit audit) {
        this.audit = audit;
    }

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
        Map<String, SqsQueueVisibility> queues = new LinkedHashMap<>();
        for (Subscription subscription : subscriptions) {
            if (subscription.visibility() instanceof SqsQueueVisibility queue) {
                audit.deadLetterQueue(subscription).ifPresent(source -> queues.putIfAbsent(source, queue));
            }
        }
        List<String> redriven = new ArrayList<>();
        List<Refusal> refused = new ArrayList<>();
        queues.forEach(
                (source, queue) -> begin(queue, source).ifPresentOrElse(refused::add, () -> redriven.add(source)));
        return new Redrives(redriven, refused);
    }

    private static Optional<Refusal> begin(SqsQueueVisibility queue, String source) {
        try {
            var unused = queue.client()
                    .startMessageMoveTask(request -> request.sourceArn(source))
                    .get(LONGEST_REQUEST.toMillis(), TimeUnit.MILLISECONDS);
            return Optional.empty();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while a redrive was started", stopped);
        } catch (ExecutionException failure) {
            return Optional.of(refusal(source, failure.getCause() == null ? failure : failure.getCause()));
        } catch (TimeoutException | RuntimeException failure) {
            return Optional.of(refusal(source, failure));
        }
    }

    private static Refusal refusal(String source, Throwable failure) {
        Refusal refusal = new Refusal(source, reason(failure), remedy(failure, source));
        // The exception of an answer says no more than its first line does, but for what that leaves out.
        log.warn(
                "Redriving {} failed: {}; {}",
                source,
                refusal.reason(),
                refusal.remedy(),
                failure instanceof SqsException ? null : failure);
        return refusal;
    }

    /** Of an answer only the first line, since what follows may quote the request; of any other failure only what it is. */
    private static String reason(Throwable failure) {
        if (failure instanceof SqsException answer) {
            AwsErrorDetails details = answer.awsErrorDetails();
            return details == null || details.errorCode() == null
                    ? "SQS answered with status " + answer.statusCode()
                    : "%s: %s"
                            .formatted(
                                    details.errorCode(),
                                    String.valueOf(details.errorMessage())
                                            .lines()
                                            .findFirst()
                                            .orElse(""));
        }
        return failure instanceof TimeoutException
                ? "no answer within %d s: it may have begun".formatted(LONGEST_REQUEST.toSeconds())
                : "SQS could not be asked, which the log tells more of: "
                        + failure.getClass().getSimpleName();
    }

    private static String remedy(Throwable failure, String source) {
        if (!(failure instanceof SqsException answer)) {
            return LOOK.formatted(source);
        }
        AwsErrorDetails details = answer.awsErrorDetails();
        String code = details == null ? "" : String.valueOf(details.errorCode());
        if (code.contains("AccessDenied")) {
            return RIGHTS;
        }
        return answer.statusCode() == FORBIDDEN ? CREDENTIALS : LOOK.formatted(source);
    }
}
