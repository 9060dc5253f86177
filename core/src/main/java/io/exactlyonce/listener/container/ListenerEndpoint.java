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
 * Spring Cloud AWS has a rule for the parameters of batch methods, which does not permit this. The rule is not applied
 * here: the method itself shows whether it takes batches.
 *
 * <p>This class is a multi-method endpoint even for one method. Such an endpoint can wrap another endpoint, from which
 * Spring Cloud AWS reads the options. This class wraps the original endpoint.
 *
 * <p>An application's factory may set up several containers, or set up one container several times. Only the last setup
 * of the container that the factory returns counts.
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
     * @param listening called with each container that has just got its message listener, before the factory configures
     *     the container further
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
     * @throws InvalidListenerException if the container was not set up here, or if it calls no exactly-once listener.
     *     Outside of observe mode, also if it would call something other than the annotated method
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
