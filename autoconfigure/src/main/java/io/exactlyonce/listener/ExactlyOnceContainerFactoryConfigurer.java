package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.container.ScopeConflicts;
import io.exactlyonce.listener.observed.ObservedListeners;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.env.Environment;

/**
 * Prepares container factories for {@link io.exactlyonce.ExactlyOnceListener} methods, which name them in {@code factory}:
 *
 * <pre>{@code
 * @Bean
 * ExactlyOnceContainerFactory bulkFactory(ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
 *     return configurer.prepare(SqsMessageListenerContainerFactory.builder()
 *             .sqsAsyncClient(client)
 *             .configure(options -> options.maxConcurrentMessages(50))
 *             .build());
 * }
 * }</pre>
 */
public final class ExactlyOnceContainerFactoryConfigurer {

    private final Environment environment;
    private final ListenerEngine engine;
    private final ObservedListeners observing;
    private final ScopeConflicts scopes = new ScopeConflicts();

    /**
     * Makes a configurer.
     *
     * @param environment says whether the application asks for missing queues to be created, and for virtual threads
     * @param engine what containers need of it
     * @param observing for listeners that are only observed
     */
    public ExactlyOnceContainerFactoryConfigurer(
            Environment environment, ListenerEngine engine, ObservedListeners observing) {
        this.environment = environment;
        this.engine = engine;
        this.observing = observing;
    }

    /**
     * Prepares a factory. Its containers keep their client, options, interceptors, error handler and converter; only their
     * component factories and their acknowledgement mode are exchanged; of listeners that are only observed, nothing is.
     *
     * @param original makes the containers
     * @return what is to be a bean
     */
    public ExactlyOnceContainerFactory prepare(SqsMessageListenerContainerFactory<?> original) {
        @SuppressWarnings("unchecked") // A factory's type parameter is that of payloads, which are converted later.
        SqsMessageListenerContainerFactory<Object> any = (SqsMessageListenerContainerFactory<Object>) original;
        return new ExactlyOnceContainerFactory(() -> any, environment, engine, scopes, observing);
    }

    /** Prepares the factory that plain {@code @SqsListener} methods use. */
    public ExactlyOnceContainerFactory prepareDefault(BeanFactory beans) {
        return new ExactlyOnceContainerFactory(() -> original(beans), environment, engine, scopes, observing);
    }

    /** Returns awspring's default factory, or the application's own. */
    @SuppressWarnings("unchecked") // A factory's type parameter is that of payloads, which are converted later.
    static SqsMessageListenerContainerFactory<Object> original(BeanFactory beans) {
        String usual = EndpointRegistrar.DEFAULT_LISTENER_CONTAINER_FACTORY_BEAN_NAME;
        return beans.containsBean(usual)
                ? beans.getBean(usual, SqsMessageListenerContainerFactory.class)
                : beans.getBean(SqsMessageListenerContainerFactory.class);
    }
}
