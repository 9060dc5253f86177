package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.FifoUtils;
import io.awspring.cloud.sqs.listener.ContainerComponentFactory;
import io.awspring.cloud.sqs.listener.FifoBatchGroupingStrategy;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementOrdering;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementHandler;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.NeverAcknowledgementHandler;
import io.awspring.cloud.sqs.listener.sink.BatchMessageSink;
import io.awspring.cloud.sqs.listener.sink.FanOutMessageSink;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.sink.adapter.MessageGroupingSinkAdapter;
import io.awspring.cloud.sqs.listener.source.MessageSource;
import io.exactlyonce.listener.acknowledgement.DeleteBuffer;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.permits.PermitSinks;
import java.util.Collection;
import java.util.concurrent.Executor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Makes a container's components, for standard queues or for FIFO queues: awspring's, with ours around them. Awspring's own
 * extension of visibility is left out: deliveries are renewed one by one, also while they wait behind earlier ones of their group.
 */
public final class ComponentFactory<T> implements ContainerComponentFactory<T, SqsContainerOptions> {

    private final ListenerEngine engine;
    private final String listener;
    private final ContainerSettings settings;
    private final boolean isFifo;

    public ComponentFactory(ListenerEngine engine, String listener, ContainerSettings settings, boolean isFifo) {
        this.engine = engine;
        this.listener = listener;
        this.settings = settings;
        this.isFifo = isFifo;
    }

    @Override
    public boolean supports(Collection<String> queueNames, SqsContainerOptions options) {
        return isFifo ? FifoUtils.areAllFifo(queueNames) : FifoUtils.areNotFifo(queueNames);
    }

    @Override
    public MessageSource<T> createMessageSource(SqsContainerOptions options) {
        return new DeliveryMessageSource<>(engine, listener, settings);
    }

    @Override
    public MessageSink<T> createMessageSink(SqsContainerOptions options) {
        boolean isSingle = options.getListenerMode() == ListenerMode.SINGLE_MESSAGE;
        MessageSink<T> standard = isSingle ? new FanOutMessageSink<>() : new BatchMessageSink<>();
        return new DeliverySink<>(isFifo ? groups(options, isSingle) : standard, engine, settings, isFifo);
    }

    /** Batches hold several groups unless the application asks for one in each; the order within a group is kept anyway. */
    private MessageSink<T> groups(SqsContainerOptions options, boolean isSingle) {
        if (isSingle) {
            return byGroup(new MessageGroupSink<>(engine, continuations()));
        }
        MessageSink<T> batches =
                PermitSinks.batches(messages -> engine.deliveries().abandon(SettlingPipeline.deliveries(messages)));
        return options.getFifoBatchGroupingStrategy()
                        == FifoBatchGroupingStrategy.PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES
                ? byGroup(batches)
                : batches;
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
    public AcknowledgementProcessor<T> createAcknowledgementProcessor(SqsContainerOptions options) {
        DeleteBuffer<T> deletes = new DeleteBuffer<>(engine.timer(), isFifo);
        if (isFifo && options.getAcknowledgementOrdering() == AcknowledgementOrdering.ORDERED_BY_GROUP) {
            deletes.setMessageGroupingFunction(ReceivedMessage::groupOf);
        }
        deletes.configure(options);
        return deletes;
    }

    /** What becomes of a message is decided around the pipeline: {@link SettlingPipeline}. */
    @Override
    public AcknowledgementHandler<T> createAcknowledgementHandler(SqsContainerOptions options) {
        return new NeverAcknowledgementHandler<>();
    }
}
