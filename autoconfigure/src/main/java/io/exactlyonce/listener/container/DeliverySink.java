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
        super.setMessagePipeline(new SettlingPipeline<>(pipeline, deliveries));
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

    /** One whose outcome is not on record yet is settled behind the pipeline. */
    private void settleLeft(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        SettlingPipeline.settle(messages, context, this::settle);
    }

    /** Without backoff, a message that the pipeline always drops would come again and again at once. */
    private boolean settle(Delivery delivery) {
        return isRunning() ? deliveries.settle(delivery) : deliveries.settleWhileStopping(delivery);
    }
}
