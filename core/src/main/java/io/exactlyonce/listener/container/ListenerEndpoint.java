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
 * Spring Cloud AWS's endpoint of a listener method, or of a class's handlers, without its rule for the parameters of
 * batch methods, which allows no {@code List<Claim>}. The method shows whether it takes batches. It is of several
 * methods, whatever the original is, since Spring Cloud AWS reads the options of those from another endpoint.
 */
public final class ListenerEndpoint extends MultiMethodSqsEndpoint {

    private final AbstractEndpoint original;
    private final Consumer<MessageListenerContainer<?>> listening;
    private @Nullable Object listener;

    /** @param listening gets the created container: it has its listener, and nothing that its factory adds later */
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
                    ("The container factory of listener '%s' has its own message listener, which would be "
                                    + "called instead of the annotated method, without a claim")
                            .formatted(getId()),
                    "leave messageListener out of the factory, or use another factory for it");
        }
    }
}
