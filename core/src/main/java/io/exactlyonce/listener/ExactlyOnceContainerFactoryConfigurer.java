package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;

/**
 * Prepares container factories for {@link io.exactlyonce.ExactlyOnceListener} methods. A method names its factory in
 * the attribute {@code factory}:
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
 *
 * <p>The starter has a bean of this type. Applications do not implement this interface.
 */
public interface ExactlyOnceContainerFactoryConfigurer {

    /**
     * Prepares a factory, so that the listeners of its containers claim keys. This library then polls the queues, calls
     * the handlers and deletes the messages. The containers keep their client, interceptors, error handler and
     * converter. Some options are changed: the acknowledgement mode, the attributes to receive, the listener mode of
     * batch methods, and the strategy for missing queues. If virtual threads are enabled and the application configures
     * no executor, handlers run on virtual threads. For a listener in observe mode, nothing is changed.
     *
     * @param original the factory that creates and configures the containers
     * @return the factory to declare as a bean
     */
    ExactlyOnceContainerFactory prepare(SqsMessageListenerContainerFactory<?> original);
}
