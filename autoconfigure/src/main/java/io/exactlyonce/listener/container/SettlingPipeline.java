package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.messaging.Message;

/**
 * The container's own pipeline, with what comes before and after it.
 *
 * <p>Before: messages that a stopping listener has returned before there was a thread for them are left out. No interceptor,
 * no handler and no error handler sees them, and their permits are free at once. A batch is left out as a whole or not at all: a
 * message that was returned has to stop the later ones of its group, also ones that the listener's stop has not come to yet. The
 * handler sees none of them.
 *
 * <p>After: what was decided is done as soon as how the handler ended is on record. The pipeline, its thread and its permit do
 * not wait for that.
 */
final class SettlingPipeline<T> implements MessageProcessingPipeline<T> {

    private final MessageProcessingPipeline<T> pipeline;
    private final Deliveries deliveries;

    SettlingPipeline(MessageProcessingPipeline<T> pipeline, Deliveries deliveries) {
        this.pipeline = pipeline;
        this.deliveries = deliveries;
    }

    @Override
    public CompletableFuture<Message<T>> process(Message<T> message, MessageProcessingContext<T> context) {
        return isHeldBack(message)
                ? CompletableFuture.completedFuture(message)
                : pipeline.process(message, context)
                        .whenComplete((done, failure) -> settleWhenRecorded(List.of(message), context));
    }

    @Override
    public CompletableFuture<Collection<Message<T>>> process(
            Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        return messages.stream().allMatch(SettlingPipeline::isHeldBack)
                ? CompletableFuture.completedFuture(messages)
                : pipeline.process(messages, context)
                        .whenComplete((done, failure) -> settleWhenRecorded(messages, context));
    }

    private void settleWhenRecorded(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        List<ReceivedMessage> received = messages.stream()
                .flatMap(message -> ReceivedMessage.of(message).stream())
                .toList();
        if (received.isEmpty()) {
            return;
        }
        CompletableFuture<Void> settled = CompletableFuture.allOf(
                        received.stream().map(each -> each.delivery().left()).toArray(CompletableFuture[]::new))
                .thenRun(() -> settle(messages, context, deliveries::settle));
        received.get(0).origin().recording(settled);
    }

    /**
     * Settles those that have left their listener, and has those deleted together that are to be deleted.
     *
     * @param settling returns whether the message is to be deleted
     */
    static <T> void settle(Collection<Message<T>> messages, MessageProcessingContext<T> context, Settling settling) {
        List<Message<T>> deleted = messages.stream()
                .filter(message -> ReceivedMessage.of(message)
                        .map(ReceivedMessage::delivery)
                        .filter(delivery -> delivery.left().isDone())
                        .filter(settling::settle)
                        .isPresent())
                .toList();
        if (deleted.size() == 1) {
            var unused = context.getAcknowledgmentCallback().onAcknowledge(deleted.get(0));
        } else if (!deleted.isEmpty()) {
            var unused = context.getAcknowledgmentCallback().onAcknowledge(deleted);
        }
    }

    private static boolean isHeldBack(Message<?> message) {
        return ReceivedMessage.of(message)
                .filter(received -> received.delivery().isHeldBack())
                .isPresent();
    }

    /** How a delivery is settled: depends on whether its listener is stopping. */
    @FunctionalInterface
    interface Settling {
        boolean settle(Delivery delivery);
    }
}
