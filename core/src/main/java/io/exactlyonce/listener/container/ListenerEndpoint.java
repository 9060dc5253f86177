package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.config.AbstractEndpoint;
import io.awspring.cloud.sqs.config.MultiMethodSqsEndpoint;
import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.exactlyonce.listener.method.InvalidListenerException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Awspring's endpoint of a listener method, or of a class's handlers, without its rule for the parameters of batch methods, which
 * allows no {@code List<Claim>}. Whether a method takes batches is known once it is read. It is of several methods, whatever
 * the original is, since awspring reads the options of those from another endpoint.
 */
public final class ListenerEndpoint extends MultiMethodSqsEndpoint {

    private final AbstractEndpoint original;
    private final Consumer<MessageListenerContainer<?>> listening;
    private @Nullable Object listener;

    /** @param listening learns of the container that is made: it has its listener, and nothing that its factory adds yet */
    public ListenerEndpoint(AbstractEndpoint original, Consumer<MessageListenerContainer<?>> listening) {
        super(builder()
                .methods(List.of())
                .queueNames(original.getLogicalNames())
                .factoryBeanName(original.getListenerContainerFactoryName())
                .id(original.getId())
                .sqsEndpoint(original instanceof MultiMethodSqsEndpoint several ? several.getEndpoint() : original));
        this.original = original;
        this.listening = listening;
    }

    @Override
    public void configureListenerMode(Consumer<ListenerMode> consumer) {
        consumer.accept(ListenerMode.SINGLE_MESSAGE);
    }

    @Override
    public <T> void setupContainer(MessageListenerContainer<T> container) {
        original.setupContainer(container);
        if (container instanceof AbstractMessageListenerContainer<?, ?, ?> made) {
            listener = made.getMessageListener();
        }
        listening.accept(container);
    }

    /**
     * Checks that the container, once made, calls the annotated method.
     *
     * @throws InvalidListenerException if it would call something else
     */
    public void requireMethod(AbstractMessageListenerContainer<?, ?, ?> container) {
        if (container.getMessageListener() != listener) {
            throw new InvalidListenerException(
                    "The container factory of listener '%s' has a message listener of its own, which would be called in the place of the annotated method, and without a claim"
                            .formatted(getId()),
                    "leave messageListener out of the factory, or make containers for it with a factory of their own");
        }
    }
}
