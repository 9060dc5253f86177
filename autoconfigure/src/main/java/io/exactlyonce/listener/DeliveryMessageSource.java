package io.exactlyonce.listener;

import io.awspring.cloud.sqs.FifoUtils;
import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementExecutor;
import io.awspring.cloud.sqs.listener.source.AbstractSqsMessageSource;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
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
            throw new QueueUnavailableException(getPollingEndpointName(), listener, failure);
        }
    }

    @Override
    protected AcknowledgementExecutor<T> createAndConfigureAcknowledgementExecutor(QueueAttributes queue) {
        SqsAsyncClient sqs = client;
        if (sqs == null) {
            throw new IllegalStateException("awspring started a message source without a client");
        }
        String url = queue.getQueueUrl();
        VisibilityWindow window = window(queue);
        Subscription begun = new Subscription(
                listener,
                url.substring(url.lastIndexOf('/') + 1),
                window,
                settings.timeout(),
                new SqsQueueVisibility(sqs, url, window),
                RedrivePolicy.maxReceiveCount(queue));
        subscription = begun;
        engine.observer().subscribed(begun);
        engine.gate().subscribe(begun);
        RedrivePolicy.warnOfFewReceives(begun);
        return new ConfirmingAcknowledgementExecutor<>(engine.deliveries(), sqs, url);
    }

    private VisibilityWindow window(QueueAttributes queue) {
        try {
            // Awspring asks SQS for whole seconds, and drops the rest.
            return VisibilityWindow.ofSeconds(configuredWindow == null ? tell(queue) : configuredWindow.toSeconds());
        } catch (IllegalArgumentException invalid) {
            throw new InvalidListenerException(
                    "Listener '%s' on queue '%s': %s"
                            .formatted(listener, getPollingEndpointName(), invalid.getMessage()),
                    "choose a window that covers most handlers, for example twice their median time");
        }
    }

    private static long tell(QueueAttributes queue) {
        String seconds = queue.getQueueAttribute(QueueAttributeName.VISIBILITY_TIMEOUT);
        if (seconds == null) {
            throw new IllegalArgumentException(
                    "the queue does not tell its VisibilityTimeout; set the listener's messageVisibilitySeconds");
        }
        return Long.parseLong(seconds);
    }

    /** Takes the time once for the whole batch, before the first message is converted. */
    @Override
    protected Collection<Message<T>> convertMessages(
            Collection<software.amazon.awssdk.services.sqs.model.Message> messages) {
        Subscription current = subscription;
        if (current == null) {
            return List.of();
        }
        long receivedAt = engine.clock().getAsLong() - ON_ITS_WAY.toNanos();
        MessageReader<T> reader = new MessageReader<>(
                getMessagingMessageConverter(), getMessageConversionContext(), payloadType, engine.deliveries());
        return new PolledMessages<>(reader, current, receivedAt).read(messages);
    }

    /**
     * Returns what waits for others; then waits, as awspring does, for handlers and acknowledgements until its timeouts;
     * then ends what is left.
     */
    @Override
    public void stop() {
        Subscription ended = subscription;
        if (ended == null) {
            super.stop();
            return;
        }
        engine.deliveries().endWaits(ended);
        try {
            super.stop();
        } finally {
            engine.deliveries().abandonAll(ended);
            engine.gate().unsubscribe(ended);
        }
    }
}
