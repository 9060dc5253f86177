package io.exactlyonce.listener;

import io.awspring.cloud.sqs.listener.FifoSqsComponentFactory;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementHandler;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.sink.adapter.MessageGroupingSinkAdapter;
import io.awspring.cloud.sqs.listener.source.MessageSource;

/**
 * Makes a container's components for FIFO queues. Awspring's own extension of visibility is left out: deliveries are
 * renewed one by one, also while they wait behind others of their group.
 */
final class FifoDeliveryComponentFactory<T> extends FifoSqsComponentFactory<T> {

    private final ListenerEngine engine;
    private final String listener;
    private final ContainerSettings settings;

    FifoDeliveryComponentFactory(ListenerEngine engine, String listener, ContainerSettings settings) {
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
        MessageSink<T> groups =
                new MessageGroupingSinkAdapter<>(new MessageGroupSink<>(engine.deliveries()), ReceivedMessage::groupOf);
        return new DeliverySink<>(groups, engine.deliveries());
    }

    @Override
    public AcknowledgementHandler<T> createAcknowledgementHandler(SqsContainerOptions options) {
        return new SettlingAcknowledgementHandler<>(engine.deliveries());
    }
}
