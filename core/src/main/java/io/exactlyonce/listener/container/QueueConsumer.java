package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.ConfigUtils;
import io.awspring.cloud.sqs.QueueAttributesResolver;
import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.IdentifiableContainerComponent;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.QueueAttributesAware;
import io.awspring.cloud.sqs.listener.SqsAsyncClientAware;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.AsyncAcknowledgementResultCallback;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.source.AbstractMessageConvertingMessageSource;
import io.awspring.cloud.sqs.listener.source.PollingMessageSource;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessageIdResolver;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.startup.QueueUnavailableException;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.Polling;
import io.exactlyonce.queue.QueueAddress;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.RepeatedReceives;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.task.TaskExecutor;
import org.springframework.retry.backoff.BackOffContext;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * Polls one queue of a listener, from the start of the listener's container until its stop. Passes the messages to the
 * {@link Dispatcher}. Polling pauses while messages cannot be claimed, handled or recorded. The container sets the
 * client, the options and the executor, and calls {@link #start} and {@link #stop}.
 */
@SuppressWarnings("NullAway.Init") // The container calls the setters before start.
final class QueueConsumer extends AbstractMessageConvertingMessageSource<Object, Message>
        implements PollingMessageSource<Object>, SqsAsyncClientAware, IdentifiableContainerComponent {

    private static final Logger log = LoggerFactory.getLogger(QueueConsumer.class);

    /** Limit of each wait in the polling loop. The waits are short, so that the loop soon notices a stop. */
    private static final Duration LONGEST_STEP = Duration.ofSeconds(1);

    /**
     * Limit of the wait for a poll's answer. The SDK may lose an answer, for example if one of its threads crashes. The
     * permits of the poll must be released even then.
     */
    private static final Duration LONGEST_ANSWER =
            Receiver.LONGEST_ANSWER.plus(Receiver.LONGEST_MORE).plusSeconds(10);

    /** Limit of the wait at startup for the queue's URL and attributes, because the server may never answer. */
    private static final Duration LONGEST_START = Duration.ofSeconds(30);

    private static final int LONGEST_URL = 2_048;

    private static final List<ReceivedMessage> NONE = List.of();

    /**
     * Used instead of {@code null} if a backoff policy returns no context. In this class, {@code null} means that the
     * last poll succeeded.
     */
    private static final BackOffContext STATELESS = new BackOffContext() {};

    private final ListenerEngine engine;
    private final String listener;
    private final ContainerSettings settings;
    private final Counter polls = new Counter(new AtomicInteger());

    private String id = "";
    private String queueName;
    private SqsAsyncClient client;
    private SqsContainerOptions options;
    private @Nullable Class<?> payloadType;
    private BatchAwareBackPressureHandler backPressure;
    private TaskExecutor threads;
    private HandlerSink sink;
    private AsyncAcknowledgementResultCallback<Object> callback;

    private Receiver receiver;
    private PollFailures failures;
    private MessageReader reader;
    private Permits permits;
    private MessageDeleter deleter;
    private Dispatcher dispatcher;
    private volatile @Nullable Subscription current;
    private volatile boolean running;
    private volatile @Nullable BackOffContext backOff;
    private long mostSeconds;

    QueueConsumer(ListenerEngine engine, String listener, ContainerSettings settings) {
        this.engine = engine;
        this.listener = listener;
        this.settings = settings;
    }

    @Override
    protected void configureMessageSource(ContainerOptions<?, ?> given) {
        options = (SqsContainerOptions) given;
        SqsMessageIdResolver.configureMessageIdResolution(
                getMessagingMessageConverter(), options.getConvertMessageIdToUuid());
    }

    @Override
    public void setPayloadDeserializationType(@Nullable Class<?> type) {
        payloadType = type;
        if (type != null && getMessageConversionContext() instanceof SqsMessageConversionContext context) {
            context.setPayloadClass(type);
        }
    }

    @Override
    public void setSqsAsyncClient(SqsAsyncClient given) {
        client = given;
    }

    @Override
    public void setPollingEndpointName(String queue) {
        queueName = queue;
    }

    @Override
    public void setBackPressureHandler(BackPressureHandler given) {
        backPressure = (BatchAwareBackPressureHandler) given;
    }

    @Override
    public void setTaskExecutor(TaskExecutor given) {
        threads = given;
    }

    @Override
    public void setMessageSink(MessageSink<Object> given) {
        sink = (HandlerSink) given;
    }

    @Override
    public void setAcknowledgementProcessor(AcknowledgementProcessor<Object> unused) {}

    @Override
    public void setAcknowledgementResultCallback(AsyncAcknowledgementResultCallback<Object> given) {
        callback = given;
    }

    @Override
    public void setId(String given) {
        id = given;
    }

    @Override
    public String getId() {
        return id;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public void start() {
        QueueUnavailableException.requireComplete(client, queueName, listener);
        QueueAttributes attributes = lookUp();
        // Waits until claims can be stored. Until then, nothing is subscribed or polled.
        engine.readiness().run();
        MessageConversionContext context = getMessageConversionContext();
        ConfigUtils.INSTANCE
                .acceptIfInstance(context, SqsAsyncClientAware.class, it -> it.setSqsAsyncClient(client))
                .acceptIfInstance(context, QueueAttributesAware.class, it -> it.setQueueAttributes(attributes))
                .acceptIfInstance(backPressure, IdentifiableContainerComponent.class, it -> it.setId(id));
        Subscription subscription = prepare(attributes);
        engine.audit().require(subscription);
        engine.line().log(subscription, settings.listener());
        engine.observer().subscribed(subscription);
        engine.breakers().of(settings.listener().transaction()).subscribe(subscription);
        current = subscription;
        running = true;
        Runnable poll = () -> pollUnlessStopped(subscription);
        threads.execute(() -> pollWhileRunning(poll));
    }

    private QueueAttributes lookUp() {
        try {
            QueueAttributes found = QueueAttributesResolver.builder()
                    .queueName(queueName)
                    .sqsAsyncClient(client)
                    .queueAttributeNames(options.getQueueAttributeNames())
                    .queueNotFoundStrategy(options.getQueueNotFoundStrategy())
                    .build()
                    .resolveQueueAttributes()
                    .get(LONGEST_START.toSeconds(), TimeUnit.SECONDS);
            String flaw = SqsMessage.flaw("QueueUrl", found.getQueueUrl(), LONGEST_URL);
            if (flaw != null) {
                throw new IllegalStateException("The answer has " + flaw);
            }
            return found;
        } catch (TimeoutException silence) {
            throw unavailable(
                    new TimeoutException("No answer has come within %d s".formatted(LONGEST_START.toSeconds())));
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            throw unavailable(stopping);
        } catch (ExecutionException | RuntimeException failure) {
            throw unavailable(failure);
        }
    }

    /**
     * Returns the exception for a queue that cannot be read. If claims cannot be stored either, throws the exception
     * for the claim store instead.
     */
    private QueueUnavailableException unavailable(Exception failure) {
        engine.readiness().run();
        return QueueUnavailableException.by(client, queueName, listener, failure);
    }

    private Subscription prepare(QueueAttributes awsprings) {
        String url = awsprings.getQueueUrl();
        io.exactlyonce.queue.QueueAttributes attributes =
                new io.exactlyonce.queue.QueueAttributes(awsprings.getQueueAttributes());
        VisibilityWindow window = QueueWatch.window(options.getMessageVisibility(), attributes, listener, queueName);
        SqsQueue queue = new SqsQueue(client, url, window);
        Subscription subscription = new Subscription(
                listener,
                QueueAddress.name(url),
                QueueSettings.of(window, attributes),
                settings.listener().timeout(),
                queue,
                engine.breakers().of(settings.listener().transaction()));
        subscription.bound(new Subscription.Attempts(
                settings.listener().scopeOn(subscription.queue()),
                settings.listener().doubt().maxAttempts()));
        QueueWatch watch = new QueueWatch(
                subscription, queue, attributes, options.getMessageVisibility(), engine.observer(), engine.scheduler());
        MessageConversion conversion =
                settings.conversion(getMessagingMessageConverter(), getMessageConversionContext(), payloadType);
        queue.keysBy(
                message -> settings.key(conversion.convert(message), new SqsMessage(subscription.queue(), message)));
        reader = new MessageReader(conversion, engine.deliveries(), settings::specify);
        Duration wait = Receiver.pollTimeout(options);
        mostSeconds = wait.plus(LONGEST_ANSWER).toSeconds();
        receiver = new Receiver(
                client,
                watch,
                options,
                Receiver.limits(client, wait, new RepeatedReceives(subscription, engine.scheduler()::nanoTime)),
                engine.scheduler(),
                this::isRunning,
                reader::returnAll);
        permits = new Permits(backPressure, options);
        queue.polledBy(new Polling(wait, permits.mostPollsUnderLoad()));
        failures = new PollFailures(queue, wait);
        deleter = new MessageDeleter(
                engine.deliveries(), queue, engine.scheduler(), options, subscription.isFifo(), callback);
        dispatcher = new Dispatcher(engine, settings, options, watch, permits, sink, deleter, threads);
        return subscription;
    }

    /**
     * Polls until the listener stops. A crash does not end this loop. An interrupt does not end it either, because the
     * interrupt may have been meant for earlier work of the thread. The loop itself allocates no memory, because memory
     * may have run out.
     */
    private void pollWhileRunning(Runnable poll) {
        while (running) {
            Boundary.guard("A poll", poll);
        }
    }

    private void pollUnlessStopped(Subscription subscription) {
        try {
            poll(subscription);
        } catch (InterruptedException meaningless) {
            log.debug("The poll of {} was interrupted; polling continues until its listener stops", subscription);
        }
    }

    private void poll(Subscription subscription) throws InterruptedException {
        BackOffContext failed = backOff;
        if (failed != null) {
            options.getPollBackOffPolicy().backOff(failed);
        }
        PollGate gate = subscription.gate();
        if (!gate.awaitPolling(LONGEST_STEP)
                || !dispatcher.awaitCapacity(LONGEST_STEP)
                || !polls.awaitAtMost(permits.mostPolls() - 1, LONGEST_STEP)) {
            return;
        }
        int granted = permits.request(LONGEST_STEP);
        if (granted > 0 && running && gate.permitsPolling()) {
            poll(subscription, granted);
        } else if (granted > 0) {
            // The permits were granted for a poll that is not sent, so they are released. Spring Cloud AWS's limits on
            // throughput would wait for the end of this poll, so its end is reported, with the reason NONE_FETCHED.
            permits.release(granted, ReleaseReason.NONE_FETCHED);
        }
    }

    private void poll(Subscription subscription, int granted) {
        polls.add(1);
        boolean isSent = false;
        try {
            long sent = engine.scheduler().nanoTime();
            CompletableFuture<List<ReceivedMessage>> received = CompletableFuture.completedFuture(granted)
                    .thenCompose(receiver::receive)
                    .orTimeout(mostSeconds, TimeUnit.SECONDS);
            Boundary.detach("The answer to a poll", received.handle((messages, failure) -> {
                arrived(subscription, granted, sent, messages, failure);
                return null;
            }));
            isSent = true;
        } finally {
            if (!isSent) {
                ended(granted, ReleaseReason.NONE_FETCHED);
            }
        }
    }

    private void ended(int released, ReleaseReason reason) {
        polls.add(-1);
        permits.release(released, reason);
    }

    /** Called by a thread of the SDK. */
    private void arrived(
            Subscription subscription,
            int granted,
            long sent,
            @Nullable List<ReceivedMessage> polled,
            @Nullable Throwable failure) {
        List<ReceivedMessage> messages = NONE;
        try {
            messages = read(subscription, sent, polled, failure);
        } finally {
            ended(
                    Math.max(0, granted - messages.size()),
                    messages.isEmpty() ? ReleaseReason.NONE_FETCHED : ReleaseReason.PARTIAL_FETCH);
        }
        dispatcher.arrived(messages);
    }

    private List<ReceivedMessage> read(
            Subscription subscription, long sent, @Nullable List<ReceivedMessage> polled, @Nullable Throwable failure) {
        List<ReceivedMessage> messages = new ArrayList<>();
        Boundary.guard("Reading messages", () -> {
            if (polled == null) {
                failures.log(
                        subscription,
                        Objects.requireNonNull(failure),
                        Duration.ofNanos(engine.scheduler().nanoTime() - sent));
                if (backOff == null) {
                    backOff = Objects.requireNonNullElse(
                            options.getPollBackOffPolicy().start(null), STATELESS);
                }
            } else if (dispatcher.isOver()) {
                reader.returnAll(polled);
            } else {
                backOff = null;
                messages.addAll(reader.read(polled));
            }
        });
        return messages;
    }

    /**
     * Stops in several steps. Messages whose handlers have not started are made visible again. Running handlers are
     * awaited until the timeout, and then interrupted. Finally the last deletes are sent. Until then, messages in
     * flight are renewed.
     */
    @Override
    public void stop() {
        running = false;
        Subscription ending = current;
        current = null;
        if (ending == null) {
            return;
        }
        engine.deliveries().beginStop(ending);
        try {
            if (!dispatcher.awaitEnd(options.getListenerShutdownTimeout())) {
                log.warn(
                        "{} is stopping, and has handlers or polls that have not ended after {}; handlers are interrupted",
                        ending,
                        options.getListenerShutdownTimeout());
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        } finally {
            dispatcher.end();
            engine.deliveries().interruptHandlers(ending);
            deleter.flush(options.getAcknowledgementShutdownTimeout());
            engine.deliveries().endStop(ending);
            engine.breakers().of(settings.listener().transaction()).unsubscribe(ending);
            engine.observer().unsubscribed(ending);
        }
    }
}
