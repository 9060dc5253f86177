package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;

/**
 * Prepares container factories for {@link io.exactlyonce.ExactlyOnceListener} methods, which name them in {@code
 * factory}:
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
 * <p>The starter has one as a bean. Not to be implemented by applications.
 */
public interface ExactlyOnceContainerFactoryConfigurer {

    /**
     * Prepares a factory. Its containers keep their client, options, interceptors, error handler and converter. Only
     * their component factories and acknowledgement mode are replaced. For a listener in observe mode nothing is
     * replaced.
     *
     * @param original makes the containers
     * @return the bean
     */
    ExactlyOnceContainerFactory prepare(SqsMessageListenerContainerFactory<?> original);
}
