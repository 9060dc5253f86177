package io.exactlyonce.listener.observed;

import io.awspring.cloud.sqs.config.MultiMethodSqsEndpoint;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.exactlyonce.listener.container.ListenerModeEndpoint;
import java.util.function.Consumer;

/** Awspring's endpoint of a class's handlers, which tells when it has set its container up. */
final class HandlersEndpoint extends MultiMethodSqsEndpoint {

    private final MultiMethodSqsEndpoint original;
    private final ListenerModeEndpoint.SetUp setUp;

    HandlersEndpoint(MultiMethodSqsEndpoint original, ListenerModeEndpoint.SetUp setUp) {
        super(MultiMethodSqsEndpoint.builder()
                .methods(original.getMethods())
                .bean(original.getBean())
                .queueNames(original.getLogicalNames())
                .factoryBeanName(original.getListenerContainerFactoryName())
                .id(original.getId())
                .sqsEndpoint(original.getEndpoint()));
        this.original = original;
        this.setUp = setUp;
    }

    @Override
    public void configureListenerMode(Consumer<ListenerMode> consumer) {
        original.configureListenerMode(consumer);
    }

    @Override
    public <T> void setupContainer(MessageListenerContainer<T> container) {
        original.setupContainer(container);
        setUp.listening(container);
    }
}
