package io.exactlyonce.listener.factory;

import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.QueueNotFoundStrategy;
import io.exactlyonce.listener.ExactlyOnceContainerFactory;
import io.exactlyonce.listener.ExactlyOnceContainerFactoryConfigurer;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.observed.ObservedListeners;
import io.exactlyonce.listener.startup.SharedPools;
import io.exactlyonce.listener.startup.SharedQueues;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.env.Environment;

/** Prepares the application's container factories, so that listeners claim keys. */
public final class ContainerPreparation implements ExactlyOnceContainerFactoryConfigurer {

    private static final String QUEUE_NOT_FOUND = "spring.cloud.aws.sqs.queue-not-found-strategy";

    final ListenerEngine engine;
    final ObservedListeners observing;
    final SharedQueues queues;
    final SharedPools pools;
    final QueueNotFoundStrategy queueNotFound;
    final boolean virtualThreads;

    /**
     * Makes a preparation.
     *
     * @param environment has Spring Cloud AWS's property for missing queues. If the property is not set, startup fails
     *     when a queue is missing. Spring Cloud AWS's own default would create the queue, with a visibility timeout of
     *     30 s and no dead-letter queue
     * @param virtualThreads whether handlers run on virtual threads if the application names no executor
     * @param engine checks the claim store when a container is made. Polling starts after this check
     * @param observing adds observers to containers of listeners in observe mode, and changes nothing else of these
     *     containers
     * @param queues finds listeners that share a queue or a scope, but have different settings
     * @param pools logs at WARN if a connection pool is too small for the handlers
     */
    public ContainerPreparation(
            Environment environment,
            boolean virtualThreads,
            ListenerEngine engine,
            ObservedListeners observing,
            SharedQueues queues,
            SharedPools pools) {
        this.virtualThreads = virtualThreads;
        this.engine = engine;
        this.observing = observing;
        this.queues = queues;
        this.pools = pools;
        queueNotFound =
                environment.getProperty(QUEUE_NOT_FOUND, QueueNotFoundStrategy.class, QueueNotFoundStrategy.FAIL);
    }

    @Override
    public ExactlyOnceContainerFactory prepare(SqsMessageListenerContainerFactory<?> original) {
        return new PreparedContainerFactory(() -> original, this);
    }

    /** Prepares the factory that plain {@code @SqsListener} methods use. */
    public ExactlyOnceContainerFactory prepareDefault(ListableBeanFactory beans) {
        return new PreparedContainerFactory(new DefaultContainerFactory(beans), this);
    }
}
