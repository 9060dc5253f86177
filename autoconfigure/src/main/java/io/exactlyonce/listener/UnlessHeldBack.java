package io.exactlyonce.listener;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.messaging.Message;

/**
 * Leaves out the messages that a stopping listener has returned before there was a thread for them: no interceptor, no
 * handler and no error handler sees them, and their permits are free at once.
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
        List<Message<T>> left =
                messages.stream().filter(message -> !isHeldBack(message)).toList();
        return left.isEmpty() ? CompletableFuture.completedFuture(messages) : pipeline.process(left, context);
    }

    private static boolean isHeldBack(Message<?> message) {
        return ReceivedMessage.of(message)
                .filter(received -> received.delivery().isHeldBack())
                .isPresent();
    }
}
