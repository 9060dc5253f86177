package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.springframework.messaging.Message;

/**
 * Leaves out the messages that a stopping listener has returned before there was a thread for them: no interceptor, no
 * handler and no error handler sees them, and their permits are free at once.
 *
 * <p>A batch is left out as a whole or not at all: a message that was returned has to stop the later ones of its group, also
 * those that the listener's stop has not come to yet. The handler sees none of those.
 */
final class UnlessHeldBack<T> implements MessageProcessingPipeline<T> {

    private final MessageProcessingPipeline<T> pipeline;

    UnlessHeldBack(MessageProcessingPipeline<T> pipeline) {
        this.pipeline = pipeline;
    }

    @Override
    public CompletableFuture<Message<T>> process(Message<T> message, MessageProcessingContext<T> context) {
        return isHeldBack(message) ? CompletableFuture.completedFuture(message) : pipeline.process(message, context);
    }

    @Override
    public CompletableFuture<Collection<Message<T>>> process(
            Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        return messages.stream().allMatch(UnlessHeldBack::isHeldBack)
                ? CompletableFuture.completedFuture(messages)
                : pipeline.process(messages, context);
    }

    private static boolean isHeldBack(Message<?> message) {
        return ReceivedMessage.of(message)
                .filter(received -> received.delivery().isHeldBack())
                .isPresent();
    }
}
