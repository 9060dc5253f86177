package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.MessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;

/**
 * Creates containers whose listeners claim keys. The application's own factory creates each container first, so that
 * the container is configured like the application's other containers. Afterwards this factory replaces the components
 * that poll, call handlers and delete messages.
 *
 * <p>The starter has a bean of this type for the application's default container factory. An {@link
 * ExactlyOnceContainerFactoryConfigurer} makes further factories. Applications do not implement this interface.
 */
public interface ExactlyOnceContainerFactory
        extends MessageListenerContainerFactory<SqsMessageListenerContainer<Object>> {}
