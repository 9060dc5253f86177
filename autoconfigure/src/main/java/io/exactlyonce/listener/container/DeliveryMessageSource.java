package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementExecutor;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler;
import io.awspring.cloud.sqs.listener.source.AbstractSqsMessageSource;
import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.ListenerStop;
import io.exactlyonce.listener.acknowledgement.CompletingAcknowledgementExecutor;
import io.exactlyonce.listener.message.Answers;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.MessageOrigin;
import io.exactlyonce.listener.message.MessageReader;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.permits.HandlerSlots;
import io.exactlyonce.listener.permits.PausingBackPressureHandler;
import io.exactlyonce.listener.permits.UnderWay;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Polls a queue, and notes of each message what SQS itself says of it, before any sender's header can interfere. */
final class DeliveryMessageSource<T> extends AbstractSqsMessageSource<T> implements MessageOrigin {

    private final ListenerEngine engine;
    private final String listener;
    private final ContainerSettings settings;

    private @Nullable SqsAsyncClient client;
    private @Nullable SqsContainerOptions options;
    private @Nullable Class<?> payloadType;
    private @Nullable PausingBackPressureHandler permits;
    private volatile @Nullable WatchedQueue watched;
    private volatile @Nullable Receiver receiver;
    private volatile @Nullable ListenerStop stop;
    private volatile @Nullable UnderWay records;

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
    public void setBackPressureHandler(BackPressureHandler backPressureHandler) {
        super.setBackPressureHandler(backPressureHandler);
        this.permits = (PausingBackPressureHandler) backPressureHandler;
    }

    @Override
    protected void doConfigure(ContainerOptions<?, ?> options) {
        super.doConfigure(options);
        this.options = (SqsContainerOptions) options;
    }

    @Override
    public void setPayloadDeserializationType(@Nullable Class<?> payloadDeserializationType) {
        super.setPayloadDeserializationType(payloadDeserializationType);
        this.payloadType = payloadDeserializationType;
    }

    @Override
    protected void doStart() {
        try {
            super.doStart();
        } catch (ExactlyOnceSetupException invalid) {
            throw invalid;
        } catch (RuntimeException failure) {
            // Of two reasons for which nothing can be polled, the database's is told.
            engine.readiness().run();
            throw QueueUnavailableException.by(client, getPollingEndpointName(), listener, failure);
        }
    }

    @Override
    protected AcknowledgementExecutor<T> createAndConfigureAcknowledgementExecutor(QueueAttributes queue) {
        SqsAsyncClient sqs = client;
        SqsContainerOptions configured = options;
        if (sqs == null || configured == null) {
            throw new IllegalStateException("awspring started a message source without a client or options");
        }
        // The queue has been looked up meanwhile; nothing is subscribed or polled before claims are known to be kept.
        engine.readiness().run();
        WatchedQueue begunOn = watch(queue, sqs, configured.getMessageVisibility());
        Subscription begun = begunOn.current();
        engine.audit().accept(begun);
        engine.line().log(begun, settings);
        stop = engine.deliveries().stop(begun);
        engine.observer().subscribed(begun);
        engine.breakers().subscribe(begun, settings.transaction());
        UnderWay pending =
                new UnderWay(inHand(configured), count -> engine.observer().completing(begun, count));
        records = pending;
        permits().await(pending);
        watched = begunOn;
        receiver = new Receiver(sqs, begunOn, configured, engine.clock(), this::isRunning, this::returnLate);
        return new CompletingAcknowledgementExecutor<>(engine.deliveries(), sqs, queue.getQueueUrl(), engine.timer());
    }

    /**
     * As many outcomes may be on their way to the store as messages may be in hand. They hold neither thread nor permit, so that something
     * else has to bound them: a crash would repeat the effects of all of them.
     */
    private int inHand(SqsContainerOptions configured) {
        int most = configured.getMaxConcurrentMessages();
        return settings.claimsAhead() ? most + configured.getMaxMessagesPerPoll() : most;
    }

    @Override
    public void recording(CompletableFuture<?> settled) {
        UnderWay pending = records;
        if (pending != null) {
            pending.add(settled);
        }
    }

    private WatchedQueue watch(QueueAttributes queue, SqsAsyncClient sqs, @Nullable Duration configuredWindow) {
        String url = queue.getQueueUrl();
        VisibilityWindow window = WatchedQueue.window(
                configuredWindow,
                queue.getQueueAttribute(QueueAttributeName.VISIBILITY_TIMEOUT),
                listener,
                getPollingEndpointName());
        SqsQueueVisibility visibility = new SqsQueueVisibility(sqs, url, window);
        Subscription begun = new Subscription(
                listener,
                url.substring(url.lastIndexOf('/') + 1),
                window,
                settings.timeout(),
                visibility,
                WatchedQueue.maxReceiveCount(queue.getQueueAttribute(QueueAttributeName.REDRIVE_POLICY)));
        return new WatchedQueue(sqs, url, begun, visibility, configuredWindow, engine.observer(), engine.clock());
    }

    /** The container ends polls that are still under way after its timeout. */
    @Override
    protected CompletableFuture<Collection<software.amazon.awssdk.services.sqs.model.Message>> doPollForMessages(
            int most) {
        Receiver started = receiver;
        if (started == null) {
            return CompletableFuture.completedFuture(List.of());
        }
        // An error would end awspring's thread that polls.
        AtomicReference<CompletableFuture<Collection<software.amazon.awssdk.services.sqs.model.Message>>> poll =
                new AtomicReference<>();
        Boundary.guard(
                "A poll",
                () -> {
                    CancellablePoll sent = CancellablePoll.of(started.receive(most), this::returnLate);
                    poll.set(sent);
                    permits().polling(sent);
                },
                crash -> poll.compareAndSet(null, CompletableFuture.failedFuture(crash)));
        return Objects.requireNonNull(poll.get());
    }

    private void returnLate(Answers late) {
        reader().returnAll(late);
    }

    @Override
    protected Collection<Message<T>> convertMessages(
            Collection<software.amazon.awssdk.services.sqs.model.Message> messages) {
        // Awspring makes a collection of its own for a poll that failed.
        return reader().read(messages instanceof Answers answers ? answers : new Answers(List.of()));
    }

    private MessageReader<T> reader() {
        MessageConversion conversion = new MessageConversion(
                getMessagingMessageConverter(),
                getMessageConversionContext(),
                payloadType,
                settings.payloadTypesOfClass());
        return new MessageReader<>(conversion, engine.deliveries(), this);
    }

    @Override
    public CompletableFuture<Boolean> givesUp(Delivery delivery) {
        WatchedQueue queue = watched;
        return queue == null ? CompletableFuture.completedFuture(false) : queue.givesUpAfter(delivery.receiveCount());
    }

    @Override
    public HandlerSlots slots() {
        return permits().slots();
    }

    private PausingBackPressureHandler permits() {
        return Objects.requireNonNull(permits);
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
            engine.breakers().unsubscribe(ending.subscription());
            engine.observer().unsubscribed(ending.subscription());
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
