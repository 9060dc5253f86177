package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.MessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;

/**
 * Makes containers that are prepared for exactly-once handling. The application's own factory creates each container,
 * so that it is configured like every other. Then the container's components are replaced.
 *
 * <p>The starter has one for the application's default container factory; {@link ExactlyOnceContainerFactoryConfigurer}
 * makes others. Not to be implemented by applications.
 */
public interface ExactlyOnceContainerFactory
        extends MessageListenerContainerFactory<SqsMessageListenerContainer<Object>> {}
