package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.ContainerComponentFactory;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.ImmediateAcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementHandler;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.NeverAcknowledgementHandler;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.source.MessageSource;
import io.exactlyonce.listener.method.ContainerSettings;

/**
 * Creates the components of a container whenever the container starts: a {@link QueueConsumer} for each queue, and one
 * {@link HandlerSink} that all consumers share.
 */
public record ConsumerComponents(ListenerEngine engine, String listener, ContainerSettings settings)
        implements ContainerComponentFactory<Object, SqsContainerOptions> {

    @Override
    public MessageSource<Object> createMessageSource(SqsContainerOptions options) {
        return new QueueConsumer(engine, listener, settings);
    }

    @Override
    public MessageSink<Object> createMessageSink(SqsContainerOptions options) {
        return new HandlerSink(engine, options.getComponentsTaskExecutor() != null);
    }

    /**
     * Returns an acknowledgement processor that is never started. {@link MessageDeleter} deletes the messages instead.
     */
    @Override
    public AcknowledgementProcessor<Object> createAcknowledgementProcessor(SqsContainerOptions options) {
        return new ImmediateAcknowledgementProcessor<>();
    }

    @Override
    public AcknowledgementHandler<Object> createAcknowledgementHandler(SqsContainerOptions options) {
        return new NeverAcknowledgementHandler<>();
    }
}
