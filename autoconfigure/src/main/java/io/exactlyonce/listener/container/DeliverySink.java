package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.sink.adapter.AbstractDelegatingMessageListeningSinkAdapter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.springframework.messaging.Message;

/**
 * Begins deliveries before any handler has a thread for them, and settles the ones that the pipeline has left: a sink that
 * is stopping takes none, and an interceptor that throws keeps a message from its last stage.
 */
final class DeliverySink<T> extends AbstractDelegatingMessageListeningSinkAdapter<T> {

    private final Deliveries deliveries;

    DeliverySink(MessageSink<T> delegate, Deliveries deliveries) {
        super(delegate);
        this.deliveries = deliveries;
    }

    @Override
    public void setMessagePipeline(MessageProcessingPipeline<T> pipeline) {
        super.setMessagePipeline(new HeldBackFilter<>(pipeline));
    }

    @Override
    public CompletableFuture<Void> emit(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        deliveries.begin(messages.stream()
                .flatMap(message -> delivery(message, context).stream())
                .toList());
        try {
            return getDelegate()
                    .emit(messages, context)
                    .whenComplete((ignored, failure) -> settleLeft(messages, context));
        } catch (RuntimeException failure) {
            settleLeft(messages, context);
            throw failure;
        }
    }

    /** A delivery that waits for another's claim is deleted long after its pipeline has ended. */
    private static <T> Optional<Delivery> delivery(Message<T> message, MessageProcessingContext<T> context) {
        Optional<Delivery> delivery = ReceivedMessage.of(message).map(ReceivedMessage::delivery);
        delivery.ifPresent(begun -> begun.deleteBy(() -> {
            var unused = context.getAcknowledgmentCallback().onAcknowledge(message);
        }));
        return delivery;
    }

    private void settleLeft(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        for (Message<T> message : messages) {
            ReceivedMessage.of(message)
                    .filter(received -> settle(received.delivery()))
                    .ifPresent(received -> {
                        var unused = context.getAcknowledgmentCallback().onAcknowledge(message);
                    });
        }
    }

    /** Without backoff, a message that the pipeline always drops would come again and again at once. */
    private boolean settle(Delivery delivery) {
        return isRunning() ? deliveries.settle(delivery) : deliveries.settleWhileStopping(delivery);
    }

    /**
     * Leaves out the messages that a stopping listener has returned before there was a thread for them: no interceptor, no
     * handler and no error handler sees them, and their permits are free at once.
     *
     * <p>A batch is left out as a whole or not at all: a message that was returned has to stop the later ones of its group,
     * also ones that the listener's stop has not come to yet. The handler sees none of them.
     */
    static final class HeldBackFilter<T> implements MessageProcessingPipeline<T> {

        private final MessageProcessingPipeline<T> pipeline;

        HeldBackFilter(MessageProcessingPipeline<T> pipeline) {
            this.pipeline = pipeline;
        }

        @Override
        public CompletableFuture<Message<T>> process(Message<T> message, MessageProcessingContext<T> context) {
            return isHeldBack(message)
                    ? CompletableFuture.completedFuture(message)
                    : pipeline.process(message, context);
        }

        @Override
        public CompletableFuture<Collection<Message<T>>> process(
                Collection<Message<T>> messages, MessageProcessingContext<T> context) {
            return messages.stream().allMatch(HeldBackFilter::isHeldBack)
                    ? CompletableFuture.completedFuture(messages)
                    : pipeline.process(messages, context);
        }

        private static boolean isHeldBack(Message<?> message) {
            return ReceivedMessage.of(message)
                    .filter(received -> received.delivery().isHeldBack())
                    .isPresent();
        }
    }
}
