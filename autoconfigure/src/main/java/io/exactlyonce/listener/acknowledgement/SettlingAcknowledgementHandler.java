package io.exactlyonce.listener.acknowledgement;

import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementCallback;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementHandler;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.messaging.Message;

/**
 * The pipeline's last stage: does with a delivery what was decided, whether the pipeline succeeded or not. A user's error
 * handler may turn a failure into a success; that acknowledges nothing. One whose outcome is not on record yet is settled
 * when it is.
 */
public final class SettlingAcknowledgementHandler<T> implements AcknowledgementHandler<T> {

    private final Deliveries deliveries;

    public SettlingAcknowledgementHandler(Deliveries deliveries) {
        this.deliveries = deliveries;
    }

    @Override
    public CompletableFuture<Void> onSuccess(Message<T> message, AcknowledgementCallback<T> callback) {
        return settle(message, callback);
    }

    @Override
    public CompletableFuture<Void> onError(Message<T> message, Throwable failure, AcknowledgementCallback<T> callback) {
        return settle(message, callback);
    }

    @Override
    public CompletableFuture<Void> onSuccess(Collection<Message<T>> messages, AcknowledgementCallback<T> callback) {
        return settle(messages, callback);
    }

    @Override
    public CompletableFuture<Void> onError(
            Collection<Message<T>> messages, Throwable failure, AcknowledgementCallback<T> callback) {
        return settle(messages, callback);
    }

    /** Each message of a batch has an end of its own. */
    private CompletableFuture<Void> settle(Collection<Message<T>> messages, AcknowledgementCallback<T> callback) {
        List<Message<T>> done = messages.stream().filter(this::settle).toList();
        return done.isEmpty() ? CompletableFuture.completedFuture(null) : callback.onAcknowledge(done);
    }

    private CompletableFuture<Void> settle(Message<T> message, AcknowledgementCallback<T> callback) {
        return settle(message) ? callback.onAcknowledge(message) : CompletableFuture.completedFuture(null);
    }

    private boolean settle(Message<T> message) {
        return ReceivedMessage.of(message)
                .map(ReceivedMessage::delivery)
                .filter(delivery -> delivery.left().isDone())
                .filter(deliveries::settle)
                .isPresent();
    }
}
