package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.QueueMessageVisibility;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.QueueVisibility.Answers;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.QueueVisibility.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/**
 * Lets handlers and error handlers change a message's visibility timeout. Later renewals do not shorten a timeout that
 * was chosen in this way. A message header carries this object. Spring Cloud AWS casts the header's value to {@link
 * QueueMessageVisibility}, so this class extends it.
 */
public final class RenewingVisibility extends QueueMessageVisibility {

    private static final String HEADER = SqsHeaders.SQS_VISIBILITY_TIMEOUT_HEADER;

    private final Delivery delivery;

    RenewingVisibility(Delivery delivery, SqsAsyncClient client, String queueUrl) {
        super(client, queueUrl, delivery.receiptHandle());
        this.delivery = delivery;
    }

    /**
     * Returns the header that replaces Spring Cloud AWS's own visibility header. Returns an empty map if the message
     * has no such header, or if the client or the queue is not known.
     */
    static Map<String, Object> header(
            Message<?> message, Delivery delivery, @Nullable MessageConversionContext context) {
        return message.getHeaders().get(HEADER) instanceof QueueMessageVisibility
                        && context instanceof SqsMessageConversionContext sqs
                        && sqs.getSqsAsyncClient() != null
                        && sqs.getQueueAttributes() != null
                ? Map.of(
                        HEADER,
                        new RenewingVisibility(
                                delivery,
                                sqs.getSqsAsyncClient(),
                                sqs.getQueueAttributes().getQueueUrl()))
                : Map.of();
    }

    @Override
    public CompletableFuture<Void> changeToAsync(int seconds) {
        return delivery.chooseVisibility(Duration.ofSeconds(seconds), () -> super.changeToAsync(seconds));
    }

    @Override
    public BatchVisibility toBatchVisibility(Collection<Message<?>> messages) {
        return ofAll(messages);
    }

    /**
     * Lets a handler change the visibility timeouts of these messages, ten in each request. If SQS rejects the change
     * of one message, the changes of the other messages still apply.
     */
    public static BatchVisibility ofAll(Collection<Message<?>> messages) {
        List<Delivery> deliveries = messages.stream()
                .map(message -> ReceivedMessage.require(message).delivery())
                .toList();
        return seconds -> {
            Together together = new Together(deliveries.get(0).subscription().visibility());
            CompletableFuture<?>[] changes = deliveries.stream()
                    .map(delivery -> delivery.chooseVisibility(
                            Duration.ofSeconds(seconds),
                            () -> together.change(new Change(delivery.receiptHandle(), seconds))))
                    .toArray(CompletableFuture[]::new);
            together.send();
            return CompletableFuture.allOf(changes);
        };
    }

    /**
     * Sends the visibility changes of a batch together, in shared requests. If a message is just being renewed, its
     * change waits for the renewal, and is then sent in a request of its own.
     */
    private static final class Together {

        private final QueueVisibility queue;
        private final List<Change> changes = new ArrayList<>();
        private final CompletableFuture<Answers> answers = new CompletableFuture<>();
        private boolean isSent;

        Together(QueueVisibility queue) {
            this.queue = queue;
        }

        CompletableFuture<Void> change(Change change) {
            return add(change).thenAccept(each -> {
                Result answer = each.of(change.receiptHandle());
                if (answer != Result.CHANGED) {
                    throw new IllegalStateException(
                            "Changing a message's visibility was answered with " + answer, each.failure());
                }
            });
        }

        private synchronized CompletableFuture<Answers> add(Change change) {
            if (isSent) {
                return queue.change(List.of(change));
            }
            changes.add(change);
            return answers;
        }

        void send() {
            synchronized (this) {
                isSent = true;
            }
            Boundary.detach(
                    "Changing the visibility of a batch", queue.change(changes).thenAccept(answers::complete));
        }
    }
}
