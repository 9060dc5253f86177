package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.FifoBatchGroupingStrategy;
import io.awspring.cloud.sqs.listener.FifoSqsComponentFactory;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchingAcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.ImmediateAcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementHandler;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.NeverAcknowledgementHandler;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.sink.adapter.MessageGroupingSinkAdapter;
import io.awspring.cloud.sqs.listener.source.MessageSource;
import io.exactlyonce.listener.acknowledgement.AwaitedAcknowledgementProcessor;
import io.exactlyonce.listener.acknowledgement.FlushingAcknowledgementProcessor;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.permits.PermitSinks;
import java.util.concurrent.Executor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Makes a container's components for FIFO queues. Awspring's own extension of visibility is left out: deliveries are
 * renewed one by one, also while they wait behind earlier ones of their group.
 */
public final class FifoComponentFactory<T> extends FifoSqsComponentFactory<T> {

    private final ListenerEngine engine;
    private final String listener;
    private final ContainerSettings settings;

    public FifoComponentFactory(ListenerEngine engine, String listener, ContainerSettings settings) {
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
        return DeliverySink.ofFifoQueue(groups(options), engine, settings);
    }

    /** Batches hold several groups unless the application asks for one in each; the order within a group is kept anyway. */
    private MessageSink<T> groups(SqsContainerOptions options) {
        if (options.getListenerMode() == ListenerMode.SINGLE_MESSAGE) {
            return byGroup(new MessageGroupSink<>(engine, continuations()));
        }
        return options.getFifoBatchGroupingStrategy()
                        == FifoBatchGroupingStrategy.PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES
                ? byGroup(PermitSinks.batches())
                : PermitSinks.batches();
    }

    /** Awspring's own executor makes no caller wait, nor work. One of the application's may do both. */
    private Executor continuations() {
        Executor threads = new SimpleAsyncTaskExecutor(listener + "-groups-");
        return next -> (settings.hasOwnExecutor() ? threads : (Executor) Runnable::run).execute(next);
    }

    private static <T> MessageSink<T> byGroup(MessageSink<T> sink) {
        return new MessageGroupingSinkAdapter<>(sink, ReceivedMessage::groupOf);
    }

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
