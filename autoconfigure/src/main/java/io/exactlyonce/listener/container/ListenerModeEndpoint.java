package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.config.SqsEndpoint;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.exactlyonce.listener.method.BatchSignature;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Awspring's endpoint of a listener method, without its rule for the parameters of batch methods, which allows no {@code
 * List<Claim>}. Whether the method takes batches is said by {@link BatchSignature}, once the method is known.
 */
public final class ListenerModeEndpoint extends SqsEndpoint {

    private final SqsEndpoint original;

    public ListenerModeEndpoint(SqsEndpoint original) {
        super(SqsEndpoint.builder().queueNames(original.getLogicalNames()).id(original.getId()));
        this.original = original;
    }

    @Override
    public void configureListenerMode(Consumer<ListenerMode> consumer) {
        consumer.accept(ListenerMode.SINGLE_MESSAGE);
    }

    @Override
    public <T> void setupContainer(MessageListenerContainer<T> container) {
        original.setupContainer(container);
    }

    @Override
    public String getListenerContainerFactoryName() {
        return original.getListenerContainerFactoryName();
    }

    @Override
    public @Nullable Integer getMaxConcurrentMessages() {
        return original.getMaxConcurrentMessages();
    }

    @Override
    public @Nullable Duration getPollTimeout() {
        return original.getPollTimeout();
    }

    @Override
    public @Nullable Integer getMaxMessagesPerPoll() {
        return original.getMaxMessagesPerPoll();
    }

    @Override
    public @Nullable Duration getMessageVisibility() {
        return original.getMessageVisibility();
    }

    @Override
    public @Nullable AcknowledgementMode getAcknowledgementMode() {
        return original.getAcknowledgementMode();
    }
}
