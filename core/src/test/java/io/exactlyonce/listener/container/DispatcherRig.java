package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.acknowledgement.AsyncAcknowledgementResultCallback;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.awspring.cloud.sqs.support.observation.SqsListenerObservation;
import io.exactlyonce.BatchResult;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObservers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.Handler;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.PayloadType;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.FakeTimer;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.Renewer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskExecutor;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * A dispatcher between a fake SQS and a scripted store. The container's executor runs tasks at once, unless a test sets
 * another executor.
 */
final class DispatcherRig {

    static final String POLICY = "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:dlq\",\"maxReceiveCount\":3}";

    final FakeClock clock = new FakeClock();
    final FakeReceives sqs = new FakeReceives();
    final ScriptedStore store = new ScriptedStore();
    final FakeTimer timer = new FakeTimer();

    /** Tasks that wait for a thread of the store. Tasks wait only after {@link #holdStore}. */
    final Deque<Runnable> asked = new ArrayDeque<>();

    private boolean isStoreHeld;
    final List<Delivery> received = new ArrayList<>();
    final List<List<String>> handled = new ArrayList<>();
    Function<List<Message<Object>>, CompletableFuture<?>> handler = this::complete;
    TaskExecutor executor = Runnable::run;
    Executor threads = Runnable::run;
    final List<Collection<Message<Object>>> acknowledged = new ArrayList<>();

    private final DeliveryObservers observer = new DeliveryObservers(List.of());
    final Renewer renewer = ListenerRig.renewer(store, clock);
    final Deliveries deliveries =
            ListenerRig.deliveries(renewer, observer, Duration.ofSeconds(8), clock, store, this::ask);
    final ListenerEngine engine = ListenerRig.engine(deliveries, store, this::ask);
    final ContainerSettings settings;
    final Subscription subscription;
    final Dispatcher dispatcher;
    private final Permits permits;
    private MessageReader reader;

    DispatcherRig(Object listener, String queueName) {
        this(ListenerRig.settings(listener, "handle"), queueName, options -> {});
    }

    DispatcherRig(ContainerSettings settings, String queueName, Consumer<SqsContainerOptionsBuilder> configurer) {
        this(settings, queueName, configurer, true);
    }

    /** @param isToldOfDeletes whether the application has a callback for deletes */
    DispatcherRig(
            ContainerSettings settings,
            String queueName,
            Consumer<SqsContainerOptionsBuilder> configurer,
            boolean isToldOfDeletes) {
        this.settings = settings;
        SqsContainerOptionsBuilder builder = SqsContainerOptions.builder()
                .maxConcurrentMessages(10)
                .acknowledgementInterval(Duration.ZERO)
                .acknowledgementThreshold(0);
        configurer.accept(builder);
        SqsContainerOptions options = builder.build();
        sqs.attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, "30");
        sqs.attributes.put(QueueAttributeName.REDRIVE_POLICY, POLICY);
        String url = "http://localhost/1/" + queueName;
        VisibilityWindow window = VisibilityWindow.ofSeconds(30);
        SqsQueue queue = new SqsQueue(sqs, url, window);
        subscription =
                new Subscription("listener", queueName, new QueueSettings(window, 3), null, queue, PollGate.OPEN);
        QueueWatch watch = new QueueWatch(
                subscription, queue, new io.exactlyonce.queue.QueueAttributes(sqs.attributes), null, observer, clock);
        AsyncAcknowledgementResultCallback<Object> callback = new AsyncAcknowledgementResultCallback<>() {
            @Override
            public CompletableFuture<Void> onSuccess(Collection<Message<Object>> messages) {
                acknowledged.add(messages);
                return CompletableFuture.completedFuture(null);
            }
        };
        AsyncAcknowledgementResultCallback<Object> awsprings = new AsyncAcknowledgementResultCallback<>() {};
        MessageDeleter deleter = new MessageDeleter(
                deliveries, queue, timer, options, subscription.isFifo(), isToldOfDeletes ? callback : awsprings);
        permits = new Permits(
                (BatchAwareBackPressureHandler)
                        options.getBackPressureHandlerFactory().createBackPressureHandler(options),
                options);
        dispatcher = new Dispatcher(
                engine, settings, options, watch, permits, sink(options), deleter, task -> threads.execute(task));
        reader = reader(new SqsMessagingMessageConverter(), null);
    }

    private MessageReader reader(SqsMessagingMessageConverter converter, @Nullable PayloadType payload) {
        SqsMessageConversionContext context = new SqsMessageConversionContext();
        context.setSqsAsyncClient(sqs);
        context.setQueueAttributes(
                new QueueAttributes(subscription.queue(), "http://localhost/1/" + subscription.queue(), Map.of()));
        return new MessageReader(MessageConversion.of(converter, context, payload, List.of()), deliveries, received -> {
            settings.specify(received);
            specified.accept(received);
        });
    }

    /** A callback for each message whose key was read. */
    Consumer<ReceivedMessage> specified = received -> {};

    /** Makes the reader convert later bodies from JSON to this class. Without this call, payloads are texts. */
    void readAs(Class<?> payload) {
        SqsMessagingMessageConverter converter = new SqsMessagingMessageConverter();
        converter.setPayloadTypeMapper(any -> null);
        reader = reader(converter, new PayloadType(payload));
    }

    private HandlerSink sink(SqsContainerOptions options) {
        HandlerSink sink = new HandlerSink(engine, true);
        sink.configure(options);
        sink.setObservationSpecifics(new SqsListenerObservation.SqsSpecifics());
        sink.setTaskExecutor(task -> executor.execute(task));
        sink.setMessagePipeline(new MessageProcessingPipeline<>() {
            @Override
            public CompletableFuture<Message<Object>> process(
                    Message<Object> message, MessageProcessingContext<Object> context) {
                return handle(List.of(message)).thenApply(done -> message);
            }

            @Override
            public CompletableFuture<Collection<Message<Object>>> process(
                    Collection<Message<Object>> messages, MessageProcessingContext<Object> context) {
                return handle(List.copyOf(messages)).thenApply(done -> messages);
            }
        });
        return sink;
    }

    /** Replaces each message, as an application's interceptor can. */
    Function<Message<Object>, Message<Object>> interceptor = message -> message;

    private CompletableFuture<?> handle(List<Message<Object>> messages) {
        handled.add(messages.stream().map(DispatcherRig::name).toList());
        messages.forEach(message -> ReceivedMessage.handedOn(interceptor.apply(message)));
        return handler.apply(messages);
    }

    /** A handler that succeeds at once. */
    CompletableFuture<?> complete(List<Message<Object>> messages) {
        return call(messages, claimed -> null);
    }

    /** A handler that fails at once. */
    CompletableFuture<?> fail(List<Message<Object>> messages) {
        return call(messages, claimed -> {
            throw new IllegalStateException("the handler's own");
        });
    }

    /** A handler that reports its first message as failed. */
    CompletableFuture<?> failFirst(List<Message<Object>> messages) {
        return call(messages, claimed -> BatchResult.failed(0, new IOException("the item's own")));
    }

    private CompletableFuture<?> call(List<Message<Object>> messages, Handler called) {
        try {
            engine.pipeline()
                    .handle(messages.stream().map(DispatcherRig::delivery).toList(), called);
            return CompletableFuture.completedFuture(null);
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    static Delivery delivery(Message<?> message) {
        return ReceivedMessage.require(message).delivery();
    }

    static String name(Message<?> message) {
        return delivery(message).receiptHandle();
    }

    void holdStore() {
        isStoreHeld = true;
    }

    void releaseStore() {
        isStoreHeld = false;
        answerStore();
    }

    private void ask(Runnable call) {
        if (isStoreHeld) {
            asked.add(call);
        } else {
            call.run();
        }
    }

    /** Lets the store answer all calls, including calls that follow from its answers. */
    void answerStore() {
        while (!asked.isEmpty()) {
            asked.remove().run();
        }
    }

    /** Delivers messages for the first time. The first letter of a message's name is its group. */
    void arrive(String... names) {
        arriveAgain(1, names);
    }

    void arriveAgain(int receive, String... names) {
        List<software.amazon.awssdk.services.sqs.model.Message> messages = Arrays.stream(names)
                .map(name -> FakeReceives.message(name, name.substring(0, 1), receive))
                .toList();
        arrive(messages);
    }

    void arrive(List<software.amazon.awssdk.services.sqs.model.Message> messages) {
        permits.taken.add(messages.size());
        List<ReceivedMessage> read = reader.read(messages.stream()
                .map(message -> ReceivedMessage.received(
                        new SqsMessage(subscription.queue(), message),
                        subscription,
                        subscription.settings(),
                        clock.nanoTime()))
                .toList());
        read.forEach(message -> received.add(message.delivery()));
        dispatcher.arrived(read);
    }

    boolean isAtAnEnd() {
        try {
            return dispatcher.awaitEnd(Duration.ZERO);
        } catch (InterruptedException stopping) {
            throw new IllegalStateException(stopping);
        }
    }

    /** Returns the number of permits in use. */
    int permits() {
        return permits.taken.get();
    }
}
