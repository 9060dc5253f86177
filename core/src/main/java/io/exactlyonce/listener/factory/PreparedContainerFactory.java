package io.exactlyonce.listener.factory;

import io.awspring.cloud.sqs.config.AbstractEndpoint;
import io.awspring.cloud.sqs.config.Endpoint;
import io.awspring.cloud.sqs.config.MessageListenerContainerFactory;
import io.awspring.cloud.sqs.config.MultiMethodSqsEndpoint;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.QueueNotFoundStrategy;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.exactlyonce.listener.ExactlyOnceContainerFactory;
import io.exactlyonce.listener.container.ConsumerComponents;
import io.exactlyonce.listener.container.ListenerEndpoint;
import io.exactlyonce.listener.container.MessageDeleter;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRules;
import io.exactlyonce.listener.startup.ContainerDifferences;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Makes containers with the application's own factory, and then replaces their components. */
final class PreparedContainerFactory implements ExactlyOnceContainerFactory {

    /** The system attributes that the engine itself reads. */
    private static final Set<MessageSystemAttributeName> SYSTEM_ATTRIBUTES = Set.of(
            MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT,
            MessageSystemAttributeName.SENT_TIMESTAMP,
            MessageSystemAttributeName.MESSAGE_GROUP_ID,
            MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);

    private final Supplier<? extends MessageListenerContainerFactory<?>> original;
    private final ContainerPreparation with;

    /** @param original creates the containers */
    PreparedContainerFactory(
            Supplier<? extends MessageListenerContainerFactory<?>> original, ContainerPreparation with) {
        this.original = original;
        this.with = with;
    }

    /** Returns the factory that creates the containers. */
    MessageListenerContainerFactory<?> original() {
        return original.get();
    }

    boolean isOver(Object supplier) {
        return original.equals(supplier);
    }

    /**
     * Makes a listener's container.
     *
     * @throws io.exactlyonce.ExactlyOnceSetupException if the listener cannot be protected, or the claim store
     *     cannot keep claims
     */
    @Override
    public SqsMessageListenerContainer<Object> createContainer(Endpoint endpoint) {
        if (endpoint instanceof ListenerEndpoint) {
            // This factory is the original of another prepared factory. The other factory has prepared the endpoint,
            // and will prepare the container.
            return sqsContainer(endpoint);
        }
        if (endpoint instanceof MultiMethodSqsEndpoint several) {
            ListenerRules.requireSingleMessages(several.getMethods());
        }
        String id = Objects.requireNonNull(endpoint.getId());
        if (!(endpoint instanceof AbstractEndpoint annotated)) {
            throw ListenerEndpoint.claimsNothing(id, endpoint.getListenerContainerFactoryName());
        }
        ListenerEndpoint prepared = new ListenerEndpoint(
                annotated, (container, settings) -> with.observing.setUp(container, annotated, settings, with.queues));
        SqsMessageListenerContainer<Object> container = sqsContainer(prepared);
        ContainerSettings settings = prepared.settings(container);
        settings.requireReadable(container.getContainerOptions().getMessageConverter());
        with.queues.add(id, endpoint.getLogicalNames(), settings.listener());
        if (!settings.isObserved()) {
            claimKeys(id, container, settings);
            with.pools.add(id, endpoint.getLogicalNames(), container.getContainerOptions(), settings.listener());
        }
        return container;
    }

    @SuppressWarnings("unchecked") // A container's type parameter is that of payloads, which are converted later.
    private SqsMessageListenerContainer<Object> sqsContainer(Endpoint endpoint) {
        MessageListenerContainer<?> made = original().createContainer(endpoint);
        if (made instanceof SqsMessageListenerContainer<?> container) {
            return (SqsMessageListenerContainer<Object>) container;
        }
        throw new InvalidListenerException(
                "The container factory under listener '%s', of class %s, makes a container of class %s"
                        .formatted(
                                endpoint.getId(),
                                original().getClass().getName(),
                                made.getClass().getName()),
                "let it make SqsMessageListenerContainers, whose messages can be claimed");
    }

    private void claimKeys(String id, SqsMessageListenerContainer<Object> container, ContainerSettings made) {
        with.engine.check().run();
        ContainerSettings settings =
                container.getContainerOptions().getComponentsTaskExecutor() == null ? made : made.onOwnExecutor();
        ContainerDifferences.log(
                id, container, settings.listener().transaction() != null, MessageDeleter.LONGEST_BUFFERED);
        container.configure(options -> configure(id, container.getContainerOptions(), options, settings));
        container.setComponentFactories(List.of(new ConsumerComponents(with.engine, id, settings)));
        if (!container.isAutoStartup()) {
            // Startup must fail if claims cannot be stored. Usually a container checks this when it starts. But this
            // container does not start with the application, so the check is awaited here.
            with.engine.readiness().run();
        }
    }

    /** Adds this library's options to those of the application. */
    private void configure(
            String id, SqsContainerOptions configured, SqsContainerOptionsBuilder options, ContainerSettings settings) {
        options.acknowledgementMode(AcknowledgementMode.ON_SUCCESS)
                .queueNotFoundStrategy(
                        configured.getQueueNotFoundStrategy() == QueueNotFoundStrategy.FAIL
                                ? QueueNotFoundStrategy.FAIL
                                : with.queueNotFound)
                .queueAttributeNames(Set.of(QueueAttributeName.ALL))
                .messageAttributeNames(
                        settings.readHeaders()
                                ? Set.of(MessageSystemAttributeName.ALL.toString())
                                : plus(
                                        configured.getMessageAttributeNames().stream(),
                                        Set.of(ReceivedMessage.KEY_ATTRIBUTE)))
                .messageSystemAttributeNames(
                        settings.readHeaders()
                                ? Set.of(MessageSystemAttributeName.ALL)
                                : plus(
                                        configured.getMessageSystemAttributeNames().stream()
                                                .map(MessageSystemAttributeName::fromValue),
                                        SYSTEM_ATTRIBUTES));
        if (settings.listener().isBatch()) {
            options.listenerMode(ListenerMode.BATCH);
        }
        if (!settings.hasOwnExecutor() && with.virtualThreads) {
            // Spring Cloud AWS ignores Spring Boot's property for virtual threads, so the executor is set here. Its
            // number of threads needs no limit, because the number of messages in flight has one.
            SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor(id + "-");
            threads.setVirtualThreads(true);
            options.componentsTaskExecutor(threads);
        }
    }

    private static <T> Set<T> plus(Stream<T> configured, Set<T> needed) {
        return Stream.concat(configured, needed.stream()).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Always throws, because a container without a listener method has no key to claim.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public SqsMessageListenerContainer<Object> createContainer(String... queueNames) {
        throw new UnsupportedOperationException(
                "A container without a listener method has no key to claim; annotate a method with @ExactlyOnceListener");
    }
}
