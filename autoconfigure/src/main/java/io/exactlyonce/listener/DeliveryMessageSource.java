package io.exactlyonce.listener;

import io.awspring.cloud.sqs.FifoUtils;
import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementExecutor;
import io.awspring.cloud.sqs.listener.source.AbstractSqsMessageSource;
import io.exactlyonce.delivery.ListenerStop;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/** Polls a queue, and notes of each message what SQS itself says of it, before any sender's header can interfere. */
final class DeliveryMessageSource<T> extends AbstractSqsMessageSource<T> {

    /** A message's window begins when SQS sends it, so this much earlier than it is here. */
    private static final Duration ON_ITS_WAY = Duration.ofMillis(200);

    private final ListenerEngine engine;
    private final String listener;
    private final ContainerSettings settings;

    private @Nullable SqsAsyncClient client;
    private @Nullable Duration configuredWindow;
    private @Nullable Class<?> payloadType;
    private volatile @Nullable Subscription subscription;
    private volatile @Nullable ListenerStop stop;

    DeliveryMessageSource(ListenerEngine engine, String listener, ContainerSettings settings) {
        this.engine = engine;
        this.listener = listener;
        this.settings = settings;
    }

    @Override
    public void setSqsAsyncClient(SqsAsyncClient sqsAsyncClient) {
        super.setSqsAsyncClient(sqsAsyncClient);
        this.client = sqsAsyncClient;
    }

    @Override
    protected void doConfigure(ContainerOptions<?, ?> options) {
        super.doConfigure(options);
        this.configuredWindow = ((SqsContainerOptions) options).getMessageVisibility();
    }

    @Override
    public void setPayloadDeserializationType(@Nullable Class<?> payloadDeserializationType) {
        super.setPayloadDeserializationType(payloadDeserializationType);
        this.payloadType = payloadDeserializationType;
    }

    /** On a FIFO queue, a receive whose reply is lost can be repeated with this id, instead of waiting for the window's end. */
    @Override
    protected void customizeRequest(ReceiveMessageRequest.Builder builder) {
        if (FifoUtils.isFifo(getPollingEndpointName())) {
            builder.receiveRequestAttemptId(UUID.randomUUID().toString());
        }
    }

    @Override
    protected void doStart() {
        try {
            super.doStart();
        } catch (InvalidListenerException invalid) {
            throw invalid;
        } catch (RuntimeException failure) {
            // Of two reasons for which nothing can be polled, the database's is told.
            engine.readiness().run();
            throw new QueueUnavailableException(QueueLookup.by(client, getPollingEndpointName(), listener), failure);
        }
    }

    @Override
    protected AcknowledgementExecutor<T> createAndConfigureAcknowledgementExecutor(QueueAttributes queue) {
        SqsAsyncClient sqs = client;
        if (sqs == null) {
            throw new IllegalStateException("awspring started a message source without a client");
        }
        // The queue has been looked up meanwhile; nothing is subscribed or polled before claims are known to be kept.
        engine.readiness().run();
        String url = queue.getQueueUrl();
        VisibilityWindow window = ListenerWindow.of(configuredWindow, queue, listener, getPollingEndpointName());
        Subscription begun = new Subscription(
                listener,
                url.substring(url.lastIndexOf('/') + 1),
                window,
                settings.timeout(),
                new SqsQueueVisibility(sqs, url, window),
                RedrivePolicy.maxReceiveCount(queue));
        subscription = begun;
        stop = engine.deliveries().stop(begun);
        engine.observer().subscribed(begun);
        engine.gates().subscribe(begun, settings.transaction());
        RedrivePolicy.warnOfFewReceives(begun);
        return new ConfirmingAcknowledgementExecutor<>(engine.deliveries(), sqs, url);
    }

    /** The container ends polls that are still under way after its timeout. */
    @Override
    protected CompletableFuture<Collection<software.amazon.awssdk.services.sqs.model.Message>> doPollForMessages(
            int most) {
        return Poll.of(super.doPollForMessages(most), this::returnLate);
    }

    private void returnLate(Collection<software.amazon.awssdk.services.sqs.model.Message> messages) {
        Subscription current = subscription;
        if (current != null) {
            long receivedAt = receivedAt();
            messages.forEach(message -> reader().returnUnread(message, current, receivedAt));
        }
    }

    /** Takes the time once for the whole batch, before the first message is converted. */
    @Override
    protected Collection<Message<T>> convertMessages(
            Collection<software.amazon.awssdk.services.sqs.model.Message> messages) {
        Subscription current = subscription;
        if (current == null) {
            return List.of();
        }
        return new PolledMessages<>(reader(), current, receivedAt()).read(messages);
    }

    private long receivedAt() {
        return engine.clock().getAsLong() - ON_ITS_WAY.toNanos();
    }

    private MessageReader<T> reader() {
        return new MessageReader<>(
                getMessagingMessageConverter(), getMessageConversionContext(), payloadType, engine.deliveries());
    }

    /**
     * Returns what no handler has begun; then waits, as awspring does, for handlers until its timeout, and for deletes
     * after {@link #doStop()}; then ends what is left.
     */
    @Override
    public void stop() {
        ListenerStop ending = stop;
        if (ending == null) {
            super.stop();
            return;
        }
        ending.begin();
        try {
            super.stop();
        } finally {
            ending.end();
            engine.gates().unsubscribe(ending.subscription());
        }
    }

    /** Called when the handlers have ended, or the time for that is over: before the last deletes are sent. */
    @Override
    protected void doStop() {
        ListenerStop ending = stop;
        if (ending != null) {
            ending.interruptHandlers();
        }
        super.doStop();
    }
}
