package io.exactlyonce.listener.acknowledgement;

import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.ImmediateAcknowledgementProcessor;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.springframework.messaging.Message;

/**
 * Sends each delete at once, as awspring does, and waits for the queue's answers when its listener stops. With awspring's own
 * listeners the handler's thread waits for each; here no thread does, and a delete that is sent again, or is under way while the
 * client is closed, would be lost: its message would come again.
 */
public final class AwaitedAcknowledgementProcessor<T> extends ImmediateAcknowledgementProcessor<T> {

    private final UnconfirmedDeletes unconfirmed = new UnconfirmedDeletes();
    private Duration patience = Duration.ZERO;

    @Override
    protected void doConfigure(ContainerOptions<?, ?> options) {
        super.doConfigure(options);
        patience = options.getAcknowledgementShutdownTimeout();
    }

    @Override
    protected CompletableFuture<Void> sendToExecutor(Collection<Message<T>> messages) {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        unconfirmed.add(answered);
        try {
            return super.sendToExecutor(messages).whenComplete((confirmed, failure) -> answered.complete(null));
        } catch (Throwable notBegun) {
            answered.complete(null);
            throw notBegun;
        }
    }

    @Override
    protected void doStop() {
        super.doStop();
        unconfirmed.await(patience, getId());
    }
}
