package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.config.SqsEndpoint;
import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.exactlyonce.ExactlyOnceSetupException;
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
    private final SetUp setUp;
    private @Nullable Object method;

    /** Learns of a container while it is made. */
    public interface SetUp {

        /** It has its listener, and nothing that its factory adds yet. */
        void listening(MessageListenerContainer<?> container);
    }

    /** A container factory has a message listener of its own, which takes the annotated method's place. */
    public static final class ReplacedMethodException extends ExactlyOnceSetupException {

        private static final long serialVersionUID = 1L;

        ReplacedMethodException(@Nullable String listener) {
            super(
                    "The container factory of listener '%s' has a message listener of its own, which would be called in the place of the annotated method, and without a claim"
                            .formatted(listener),
                    "leave messageListener out of the factory, or make containers for it with a factory of their own",
                    null);
        }
    }

    /** @param setUp learns of the container that is made */
    public ListenerModeEndpoint(SqsEndpoint original, SetUp setUp) {
        super(SqsEndpoint.builder().queueNames(original.getLogicalNames()).id(original.getId()));
        this.original = original;
        this.setUp = setUp;
    }

    @Override
    public void configureListenerMode(Consumer<ListenerMode> consumer) {
        consumer.accept(ListenerMode.SINGLE_MESSAGE);
    }

    @Override
    public <T> void setupContainer(MessageListenerContainer<T> container) {
        original.setupContainer(container);
        if (container instanceof AbstractMessageListenerContainer<?, ?, ?> listening) {
            method = listening.getMessageListener();
        }
        setUp.listening(container);
    }

    /**
     * Checks that the container, once made, calls the annotated method.
     *
     * @throws ReplacedMethodException if it would call something else
     */
    public void requireMethod(AbstractMessageListenerContainer<?, ?, ?> container) {
        if (container.getMessageListener() != method) {
            throw new ReplacedMethodException(getId());
        }
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
