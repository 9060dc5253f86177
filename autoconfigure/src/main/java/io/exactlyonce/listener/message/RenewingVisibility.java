package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.MessageHeaderUtils;
import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.QueueMessageVisibility;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.exactlyonce.delivery.Delivery;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/**
 * Awspring's {@link Visibility}, by which handlers and error handlers change a message's visibility themselves; renewals
 * and returns respect what they choose. It has the class that awspring casts to.
 */
public final class RenewingVisibility extends QueueMessageVisibility {

    private static final String HEADER = SqsHeaders.SQS_VISIBILITY_TIMEOUT_HEADER;

    private final Delivery delivery;

    RenewingVisibility(Delivery delivery, SqsAsyncClient client, String queueUrl) {
        super(client, queueUrl, delivery.receiptHandle());
        this.delivery = delivery;
    }

    /** Returns the header that puts it in the place of awspring's own, if the message has one. */
    static Map<String, Object> header(
            Message<?> message, Delivery delivery, @Nullable MessageConversionContext context) {
        if (!(message.getHeaders().get(HEADER) instanceof QueueMessageVisibility)
                || !(context instanceof SqsMessageConversionContext sqs)) {
            return Map.of();
        }
        SqsAsyncClient client = sqs.getSqsAsyncClient();
        QueueAttributes queue = sqs.getQueueAttributes();
        return client == null || queue == null
                ? Map.of()
                : Map.of(HEADER, new RenewingVisibility(delivery, client, queue.getQueueUrl()));
    }

    @Override
    public CompletableFuture<Void> changeToAsync(int seconds) {
        return delivery.chooseVisibility(Duration.ofSeconds(seconds), () -> super.changeToAsync(seconds));
    }

    @Override
    public BatchVisibility toBatchVisibility(Collection<Message<?>> messages) {
        return ofAll(messages);
    }

    /** Returns what changes the visibility of all these messages. */
    public static BatchVisibility ofAll(Collection<Message<?>> messages) {
        List<Visibility> each = messages.stream()
                .map(message -> MessageHeaderUtils.getHeader(message, HEADER, Visibility.class))
                .toList();
        return seconds -> CompletableFuture.allOf(each.stream()
                .map(visibility -> visibility.changeToAsync(seconds))
                .toArray(CompletableFuture[]::new));
    }
}
