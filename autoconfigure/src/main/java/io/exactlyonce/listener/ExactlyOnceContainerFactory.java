package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.Endpoint;
import io.awspring.cloud.sqs.config.MessageListenerContainerFactory;
import io.awspring.cloud.sqs.config.MultiMethodSqsEndpoint;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.QueueNotFoundStrategy;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.exactlyonce.listener.container.ConsumerComponents;
import io.exactlyonce.listener.container.ListenerEndpoint;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.container.ScopeConflicts;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRules;
import io.exactlyonce.listener.observed.ObservedListeners;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.thread.Threading;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * Prepares containers for exactly-once handling. A container is made by the application's own factory, so that it is
 * configured like every other; only then are its components exchanged.
 *
 * <p>The starter has one for the application's default container factory; {@link ExactlyOnceContainerFactoryConfigurer}
 * makes others.
 */
public final class ExactlyOnceContainerFactory
        implements MessageListenerContainerFactory<SqsMessageListenerContainer<Object>> {

    private static final String QUEUE_NOT_FOUND = "spring.cloud.aws.sqs.queue-not-found-strategy";

    private final Supplier<SqsMessageListenerContainerFactory<Object>> original;
    private final ListenerEngine engine;
    private final QueueNotFoundStrategy queueNotFound;
    private final boolean virtualThreads;
    private final ScopeConflicts scopes;
    private final ObservedListeners observing;

    /**
     * Makes a factory.
     *
     * @param original makes the containers
     * @param environment says whether the application asks for missing queues to be created, and for virtual threads.
     *     Awspring creates queues by default, with a window of 30 s and no dead-letter queue; here a missing queue stops
     *     the start
     * @param engine begins with each container to prove the database ready; each message source awaits that before it polls
     * @param observing for listeners that are only observed, whose containers stay as they are made
     */
    ExactlyOnceContainerFactory(
            Supplier<SqsMessageListenerContainerFactory<Object>> original,
            Environment environment,
            ListenerEngine engine,
            ScopeConflicts scopes,
            ObservedListeners observing) {
        this.original = original;
        this.engine = engine;
        this.queueNotFound =
                environment.getProperty(QUEUE_NOT_FOUND, QueueNotFoundStrategy.class, QueueNotFoundStrategy.FAIL);
        this.virtualThreads = Threading.VIRTUAL.isActive(environment);
        this.scopes = scopes;
        this.observing = observing;
    }

    @Override
    public SqsMessageListenerContainer<Object> createContainer(Endpoint endpoint) {
        if (endpoint instanceof MultiMethodSqsEndpoint several) {
            ListenerRules.requireSingleMessages(several.getMethods());
        }
        ContainerSettings settings = ContainerSettings.begin();
        Endpoint prepared = observing.prepare(endpoint, settings);
        SqsMessageListenerContainer<Object> container;
        try {
            container = original.get().createContainer(prepared);
        } finally {
            settings.end();
        }
        if (!settings.hasHandlers()) {
            throw new InvalidListenerException(
                    "Listener '%s' names the container factory '%s', which claims keys, and has no key to claim"
                            .formatted(endpoint.getId(), endpoint.getListenerContainerFactoryName()),
                    "use @ExactlyOnceListener in the place of @SqsListener, or name another factory");
        }
        if (settings.isObserved()) {
            scopes.add(
                    container.getId(),
                    endpoint.getLogicalNames(),
                    settings.scope(),
                    settings.onAbandoned(),
                    settings.effects());
            return container;
        }
        if (prepared instanceof ListenerEndpoint own) {
            own.requireMethod(container);
        }
        engine.check().run();
        if (settings.isBatch()) {
            container.configure(options -> options.listenerMode(ListenerMode.BATCH));
        }
        String listener = Objects.requireNonNull(endpoint.getId());
        new ContainerDifferences(container, settings.transaction() != null).tell(listener);
        container.configure(options -> {
            chooseThreads(container.getContainerOptions(), options, listener, settings);
            configure(container.getContainerOptions(), options);
        });
        scopes.add(listener, endpoint.getLogicalNames(), settings.scope(), settings.onAbandoned(), settings.effects());
        container.setComponentFactories(List.of(new ConsumerComponents(engine, listener, settings)));
        if (!container.isAutoStartup()) {
            // Its message source will not wait for the check at the start, and a database that cannot keep claims must
            // stop it.
            engine.readiness().run();
        }
        return container;
    }

    /** Adds what the engine needs to what the application has configured. */
    private void configure(SqsContainerOptions configured, SqsContainerOptionsBuilder options) {
        options.acknowledgementMode(AcknowledgementMode.ON_SUCCESS)
                .queueNotFoundStrategy(
                        configured.getQueueNotFoundStrategy() == QueueNotFoundStrategy.FAIL
                                ? QueueNotFoundStrategy.FAIL
                                : queueNotFound)
                .queueAttributeNames(Set.of(QueueAttributeName.ALL))
                .messageAttributeNames(
                        plus(configured.getMessageAttributeNames().stream(), Set.of(ReceivedMessage.KEY_ATTRIBUTE)))
                .messageSystemAttributeNames(plus(
                        configured.getMessageSystemAttributeNames().stream().map(MessageSystemAttributeName::fromValue),
                        Set.of(
                                MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT,
                                MessageSystemAttributeName.SENT_TIMESTAMP,
                                MessageSystemAttributeName.MESSAGE_GROUP_ID,
                                MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID)));
    }

    /** Awspring itself knows nothing of {@code spring.threads.virtual.enabled}. The number of messages bounds the threads'. */
    private void chooseThreads(
            SqsContainerOptions configured,
            SqsContainerOptionsBuilder options,
            String listener,
            ContainerSettings settings) {
        if (configured.getComponentsTaskExecutor() != null) {
            settings.ownExecutor();
        }
        if (virtualThreads && configured.getComponentsTaskExecutor() == null) {
            SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor(listener + "-");
            threads.setVirtualThreads(true);
            options.componentsTaskExecutor(threads);
        }
    }

    private static <T> Set<T> plus(Stream<T> configured, Set<T> needed) {
        return Stream.concat(configured, needed.stream()).collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public SqsMessageListenerContainer<Object> createContainer(String... queueNames) {
        throw new UnsupportedOperationException(
                "A container without a listener method has no key to claim; annotate a method with @ExactlyOnceListener");
    }
}
