package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.StandardSqsComponentFactory;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchingAcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.ImmediateAcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementHandler;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.NeverAcknowledgementHandler;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.source.MessageSource;
import io.exactlyonce.listener.acknowledgement.AwaitedAcknowledgementProcessor;
import io.exactlyonce.listener.acknowledgement.FlushingAcknowledgementProcessor;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.permits.PermitSinks;

/** Makes a container's components: awspring's, with ours around them. */
public final class StandardComponentFactory<T> extends StandardSqsComponentFactory<T> {

    private final ListenerEngine engine;
    private final String listener;
    private final ContainerSettings settings;

    public StandardComponentFactory(ListenerEngine engine, String listener, ContainerSettings settings) {
        this.engine = engine;
        this.listener = listener;
        this.settings = settings;
    }

    @Override
    public MessageSource<T> createMessageSource(SqsContainerOptions options) {
        return new DeliveryMessageSource<>(engine, listener, settings);
    }

    @Override
    public MessageSink<T> createMessageSink(SqsContainerOptions options) {
        return DeliverySink.ofStandardQueue(PermitSinks.of(options.getListenerMode()), engine, settings);
    }

    /** Deletes go at once if an application sets the interval to zero. */
    @Override
    protected ImmediateAcknowledgementProcessor<T> createImmediateProcessorInstance() {
        return new AwaitedAcknowledgementProcessor<>();
    }

    @Override
    protected BatchingAcknowledgementProcessor<T> createBatchingProcessorInstance() {
        return new FlushingAcknowledgementProcessor<>();
    }

    /** What becomes of a message is decided around the pipeline: {@link SettlingPipeline}. */
    @Override
    public AcknowledgementHandler<T> createAcknowledgementHandler(SqsContainerOptions options) {
        return new NeverAcknowledgementHandler<>();
    }
}
