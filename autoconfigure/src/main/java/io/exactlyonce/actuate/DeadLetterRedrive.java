package io.exactlyonce.actuate;

import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Has SQS move the messages of a dead-letter queue back to the queues that they came from. */
public final class DeadLetterRedrive {

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(5);

    private final QueueAudit audit;

    /** @param audit knows queues' dead-letter queues */
    public DeadLetterRedrive(QueueAudit audit) {
        this.audit = audit;
    }

    /**
     * Starts to move messages; SQS goes on with it.
     *
     * @return the dead-letter queue's ARN; empty if there is none, or it is not known
     * @throws IllegalStateException if SQS refuses, or does not answer within 5 s
     */
    public Optional<String> start(Subscription subscription) {
        Optional<String> source = audit.deadLetterQueue(subscription);
        if (source.isPresent() && subscription.visibility() instanceof SqsQueueVisibility queue) {
            begin(queue, source.get());
            return source;
        }
        return Optional.empty();
    }

    private static void begin(SqsQueueVisibility queue, String source) {
        try {
            var unused = queue.client()
                    .startMessageMoveTask(request -> request.sourceArn(source))
                    .get(LONGEST_REQUEST.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException failure) {
            throw new IllegalStateException(
                    "Redriving %s failed; allow sqs:StartMessageMoveTask, sqs:ReceiveMessage, sqs:DeleteMessage and sqs:GetQueueAttributes on it, and sqs:SendMessage on the queue"
                            .formatted(source),
                    failure);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while a redrive was started", stopped);
        }
    }
}
