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

/** Prepares container factories with the engine of the application. */
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
     * @param environment contains the property that creates missing queues. Spring Cloud AWS creates queues by
     *     default, with a timeout of 30 s and no dead-letter queue; here a missing queue fails startup
     * @param virtualThreads whether handlers run on virtual threads if the application names no executor
     * @param engine checks the claim store with each container; each message source waits for that check before it
     *     polls
     * @param observing for listeners that are only observed, whose containers are not changed
     * @param queues warns of listeners that share a queue or a scope with different settings
     * @param pools warns of handlers that need more connections than a pool has
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
