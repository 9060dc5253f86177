package io.exactlyonce.listener;

import io.awspring.cloud.sqs.CompletableFutures;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.sink.OrderedMessageSink;
import io.exactlyonce.delivery.Deliveries;
import io.exactlyonce.delivery.Delivery;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * Handles the messages of one group in their order. The first one that stays in the queue, whatever the reason, stops the
 * rest of the group: they are made visible again at once. SQS hands out nothing of a group while any of its messages is in
 * flight, so that the order holds however long the stopped one stays away.
 *
 * <p>One that failed on its last receive does not stay: its queue moves it to the dead-letter queue instead of handing it
 * out again. The rest, which has been received as often, would go with it if it did not go on now. One that waits on its
 * last receive keeps the rest, invisible and without a thread, until its wait is over; then they go on for the same reason.
 */
final class MessageGroupSink<T> extends OrderedMessageSink<T> {

    private final Deliveries deliveries;

    MessageGroupSink(Deliveries deliveries) {
        this.deliveries = deliveries;
    }

    @Override
    public CompletableFuture<Void> emit(Collection<Message<T>> group, MessageProcessingContext<T> context) {
        return super.emit(group, context).whenComplete((done, failure) -> returnRest(group));
    }

    /** What is not settled by now has not begun. */
    private void returnRest(Collection<Message<T>> group) {
        for (Message<T> message : group) {
            delivery(message).ifPresent(deliveries::settleWhileStopping);
        }
    }

    @Override
    protected CompletableFuture<Void> execute(Message<T> message, MessageProcessingContext<T> context) {
        return CompletableFutures.handleCompose(super.execute(message, context), (done, failure) -> {
            settleLeft(message, context);
            return goOn(message, failure);
        });
    }

    private CompletableFuture<Void> goOn(Message<T> message, @Nullable Throwable failure) {
        Optional<Delivery> delivery = delivery(message);
        if (delivery.filter(Delivery::waitsOnItsLastReceive).isPresent()) {
            return delivery.get().gone().thenCompose(gone -> goOn(gone, message, failure));
        }
        return goOn(delivery.filter(Delivery::leavesItsQueue).isPresent(), message, failure);
    }

    private CompletableFuture<Void> goOn(boolean leavesItsQueue, Message<T> message, @Nullable Throwable failure) {
        if (!leavesItsQueue) {
            return CompletableFuture.failedFuture(failure == null ? new GroupStopped() : failure);
        }
        if (failure != null) {
            logError(failure, message);
        }
        return CompletableFuture.completedFuture(null);
    }

    /** An interceptor that throws keeps a message from the pipeline's last stage. */
    private void settleLeft(Message<T> message, MessageProcessingContext<T> context) {
        if (delivery(message).filter(deliveries::settle).isPresent()) {
            var unused = context.getAcknowledgmentCallback().onAcknowledge(message);
        }
    }

    private static Optional<Delivery> delivery(Message<?> message) {
        return ReceivedMessage.of(message).map(ReceivedMessage::delivery);
    }

    @Override
    protected Void logError(Throwable failure, Message<T> message) {
        Throwable cause = failure instanceof CompletionException wrapper ? wrapper.getCause() : failure;
        return cause instanceof GroupStopped ? null : super.logError(failure, message);
    }

    /** A signal rather than a failure: the message that stops its group has said why, as far as there is anything to say. */
    private static final class GroupStopped extends RuntimeException {

        private static final long serialVersionUID = 1;

        GroupStopped() {
            super("The group's rest waits for a message that was not deleted", null, false, false);
        }
    }
}
