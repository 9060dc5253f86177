package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.config.AbstractEndpoint;
import io.awspring.cloud.sqs.config.MultiMethodSqsEndpoint;
import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import io.exactlyonce.listener.method.InvalidListenerException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/**
 * Replaces Spring Cloud AWS's endpoint of a listener, so that a batch method may have a {@code List<Claim>} parameter.
 * Spring Cloud AWS's own check of the parameters would reject it.
 *
 * <p>This class extends {@code MultiMethodSqsEndpoint}, even for listeners with one method, because such an endpoint
 * can contain the original endpoint. Spring Cloud AWS reads the listener's options from the original endpoint.
 *
 * <p>An application's factory may set up several containers, or set up one container several times. So this class keeps
 * the settings from the latest setup of each container.
 */
public final class ListenerEndpoint extends MultiMethodSqsEndpoint {

    private final AbstractEndpoint original;
    private final BiConsumer<MessageListenerContainer<?>, ContainerSettings> listening;
    private final Map<MessageListenerContainer<?>, SetUp> containers =
            Collections.synchronizedMap(new IdentityHashMap<>());

    /** Results of {@link #setupContainer} for a container. */
    private record SetUp(
            ContainerSettings settings, @Nullable Object listener) {}

    /**
     * @param listening is called for each container as soon as its message listener is set. Afterwards the factory may
     *     configure the container further
     */
    public ListenerEndpoint(
            AbstractEndpoint original, BiConsumer<MessageListenerContainer<?>, ContainerSettings> listening) {
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
        ContainerSettings settings = ContainerSettings.of(() -> original.setupContainer(container));
        listening.accept(container, settings);
        containers.put(container, new SetUp(settings, listener(container)));
    }

    private static @Nullable Object listener(MessageListenerContainer<?> container) {
        return container instanceof AbstractMessageListenerContainer<?, ?, ?> made ? made.getMessageListener() : null;
    }

    /**
     * Returns the settings of a container that the application's factory has made.
     *
     * @throws InvalidListenerException if the container would not call the annotated method, or would call it without a
     *     claim
     */
    public ContainerSettings settings(MessageListenerContainer<?> container) {
        SetUp setUp = containers.get(container);
        if (setUp == null) {
            throw new InvalidListenerException(
                    "The container factory of listener '%s' returned a container that does not call the annotated method"
                            .formatted(getId()),
                    "return the container that was passed to Endpoint.setupContainer, or use another factory for it");
        }
        if (!setUp.settings().hasHandlers()) {
            throw withoutHandlers();
        }
        if (!setUp.settings().isObserved() && listener(container) != setUp.listener()) {
            throw new InvalidListenerException(
                    ("The container factory of listener '%s' has its own message listener, which would be "
                                    + "called instead of the annotated method, without a claim")
                            .formatted(getId()),
                    "leave messageListener out of the factory, or use another factory for it");
        }
        return setUp.settings();
    }

    private InvalidListenerException withoutHandlers() {
        Object bean = original.getBean();
        return bean != null && ExactlyOnceAdvisor.isListener(AopUtils.getTargetClass(bean))
                ? new InvalidListenerException(
                        "Listener '%s' of %s claims no keys: either its method has @SqsListener, or an SqsListenerConfigurer"
                                        .formatted(
                                                getId(),
                                                AopUtils.getTargetClass(bean).getName())
                                + " has replaced the MessageHandlerMethodFactory that calls methods under their claims",
                        "use @ExactlyOnceListener instead of @SqsListener; in the configurer, wrap"
                                + " registrar.getMessageHandlerMethodFactory() instead of replacing it")
                : claimsNothing(getId(), getListenerContainerFactoryName());
    }

    /** Returns the exception for a plain listener that names an exactly-once factory. */
    public static InvalidListenerException claimsNothing(@Nullable String id, @Nullable String factory) {
        return new InvalidListenerException(
                "Listener '%s' names the container factory '%s', which claims keys, and has no key to claim"
                        .formatted(id, factory),
                "use @ExactlyOnceListener instead of @SqsListener, or name another factory");
    }
}
