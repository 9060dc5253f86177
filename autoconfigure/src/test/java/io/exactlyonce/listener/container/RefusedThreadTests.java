package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.ObservableComponent;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.TaskExecutorAware;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.MessageProcessingPipelineSink;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.support.observation.SqsListenerObservation;
import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.TaskExecutor;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.messaging.Message;

/**
 * An executor of the application's that has no thread for a message. Trap: awspring throws, and keeps the permits; a listener that has
 * lost all of them polls no more.
 */
class RefusedThreadTests {

    static class Listener {
        @ExactlyOnceListener(queueNames = "orders", onAbandoned = AbandonedPolicy.PARK)
        void handle(String order) {}
    }

    private final FakeClock clock = new FakeClock();
    private final DeliveryObserver noObserver = new DeliveryObserver() {};
    private final RenewalSupervisor supervisor = new RenewalSupervisor(
            new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0);
    private final Deliveries deliveries = new Deliveries(
            supervisor, noObserver, new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)), clock, () -> 0, 10);
    private final ScriptedQueue queue = new ScriptedQueue();
    private final Subscription subscription =
            new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), queue);
    private final AtomicInteger permits = new AtomicInteger();
    private final List<String> handled = new ArrayList<>();

    private final MessageProcessingPipeline<String> pipeline = new MessageProcessingPipeline<>() {
        @Override
        public CompletableFuture<Message<String>> process(
                Message<String> message, MessageProcessingContext<String> context) {
            handled.add(id(message));
            return CompletableFuture.completedFuture(message);
        }

        @Override
        public CompletableFuture<Collection<Message<String>>> process(
                Collection<Message<String>> messages, MessageProcessingContext<String> context) {
            messages.forEach(message -> handled.add(id(message)));
            return CompletableFuture.completedFuture(messages);
        }
    };

    private static String id(Message<String> message) {
        return ReceivedMessage.require(message).delivery().messageId();
    }

    private Message<String> receive(String id, String group) {
        Delivery delivery = new Delivery(subscription, id, id, 1, clock.nanoTime());
        return new ReceivedMessage(delivery, null, group, "body", UnknownOrigin.INSTANCE)
                .attachTo(ListenerRig.message(Map.of(SqsHeaders.SQS_QUEUE_NAME_HEADER, "orders")), Map.of());
    }

    private CompletableFuture<Void> emit(boolean isFifo, ListenerMode mode, TaskExecutor threads) {
        ListenerEngine engine = ListenerRig.engine(deliveries);
        ContainerSettings settings = ListenerRig.settings(new Listener(), "handle");
        SqsContainerOptions options =
                SqsContainerOptions.builder().listenerMode(mode).build();
        MessageSink<String> sink =
                new ComponentFactory<String>(engine, "listener", settings, isFifo).createMessageSink(options);
        ((TaskExecutorAware) sink).setTaskExecutor(threads);
        ((ObservableComponent) sink).setObservationSpecifics(new SqsListenerObservation.SqsSpecifics());
        ((MessageProcessingPipelineSink<String>) sink).configure(options);
        ((MessageProcessingPipelineSink<String>) sink).setMessagePipeline(pipeline);
        ((SmartLifecycle) sink).start();
        return sink.emit(
                List.of(receive("a1", "a"), receive("a2", "a"), receive("b1", "b")),
                MessageProcessingContext.<String>create().setBackPressureReleaseCallback(permits::incrementAndGet));
    }

    @ParameterizedTest
    @CsvSource({"false, SINGLE_MESSAGE", "false, BATCH", "true, SINGLE_MESSAGE", "true, BATCH"})
    void permitsAreGivenBackAndMessagesReturned(boolean isFifo, ListenerMode mode) {
        try {
            assertThat(emit(isFifo, mode, task -> {
                        throw new TaskRejectedException("full (simulated)");
                    }))
                    .isDone();
        } catch (TaskRejectedException toPoller) {
            // Awspring logs it there, and polls on.
        }

        assertThat(permits).hasValue(3);
        assertThat(handled).isEmpty();
        assertThat(supervisor.inFlight()).isZero();
    }

    /** As when the virtual machine can make none: nothing is returned, and the next poll finds its permits. */
    @ParameterizedTest
    @CsvSource({"false, SINGLE_MESSAGE", "false, BATCH", "true, SINGLE_MESSAGE", "true, BATCH"})
    void permitsOfMessagesThatACrashHasHitAreGivenBackOnceAndTheMessagesAbandoned(boolean isFifo, ListenerMode mode) {
        assertThat(emit(isFifo, mode, task -> {
                    throw new OutOfMemoryError("unable to create native thread (simulated)");
                }))
                .isCompleted();

        assertThat(permits).hasValue(3);
        assertThat(handled).isEmpty();
        assertThat(supervisor.inFlight()).isZero();
        assertThat(queue.changes()).isEmpty();
    }

    @Test
    void messagesAfterOneWithoutAThreadAreHandled() {
        AtomicInteger asked = new AtomicInteger();

        assertThat(emit(false, ListenerMode.SINGLE_MESSAGE, task -> {
                    if (asked.incrementAndGet() == 2) {
                        throw new NoClassDefFoundError("io/tracing/Span (simulated)");
                    }
                    task.run();
                }))
                .isCompleted();

        assertThat(handled).containsExactly("a1", "b1");
        assertThat(permits).hasValue(3);
        assertThat(supervisor.inFlight()).isZero();
    }
}
