package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.QueueVisibility.Change;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.SmartLifecycle;
import org.springframework.messaging.Message;

/**
 * Traps: an exception in an interceptor breaks the pipeline, so that its message is not settled; a converter wraps the
 * message anew, and its renewal is lost track of.
 */
class DeliverySinkTests {

    private final FakeClock clock = new FakeClock();
    private @Nullable Error failing;
    private final DeliveryObserver noObserver = new DeliveryObserver() {
        @Override
        public void inFlight(Subscription subscription, int change) {
            if (failing != null && change > 0) {
                throw failing;
            }
        }
    };
    private final ScriptedQueue queue = new ScriptedQueue();
    private final RenewalSupervisor supervisor = new RenewalSupervisor(
            new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0);
    private final Deliveries deliveries = new Deliveries(
            supervisor, noObserver, new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)), clock, () -> 0, 10);
    private final Delivery delivery = new Delivery(
            new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), queue),
            "message-id",
            "handle",
            1,
            clock.nanoTime());
    private final Message<String> message = new ReceivedMessage(delivery, null, "", "body", UnknownOrigin.INSTANCE)
            .attachTo(ListenerRig.message(Map.of()), Map.of());
    private final CompletableFuture<Void> pipeline = new CompletableFuture<>();
    private final List<Message<String>> acknowledged = new ArrayList<>();
    private MessageProcessingContext<String> context = ListenerRig.acknowledgingTo(acknowledged);

    static class Listener {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(String order) {}

        @ExactlyOnceListener(queueNames = "orders", onAbandoned = AbandonedPolicy.PARK)
        void claimWhenThereIsAThread(String order) {}
    }

    /** Stands for awspring's own sink and what it calls. */
    private class Rest implements MessageSink<String>, SmartLifecycle {

        @Override
        public CompletableFuture<Void> emit(
                Collection<Message<String>> messages, MessageProcessingContext<String> context) {
            assertThat(supervisor.inFlight()).as("renewed before any handler").isOne();
            return pipeline;
        }

        @Override
        public void configure(ContainerOptions<?, ?> options) {}

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return true;
        }
    }

    private CompletableFuture<Void> emit(MessageSink<String> rest) {
        return emit(rest, "handle");
    }

    private CompletableFuture<Void> emit(MessageSink<String> rest, String method) {
        return new DeliverySink<>(
                        rest, ListenerRig.engine(deliveries), ListenerRig.settings(new Listener(), method), false)
                .emit(List.of(message), context);
    }

    @Test
    void messageWhosePipelineFailsBeforeItsEndIsReturnedWithBackoffAndRenewedNoMore() {
        CompletableFuture<Void> emitted = emit(new Rest());
        pipeline.completeExceptionally(new IllegalStateException("an interceptor"));

        assertThat(emitted).isCompletedExceptionally();
        assertThat(queue.changes()).containsExactly(new Change("handle", 4));
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void messageThatThePipelineLosesOnItsWayIsReturnedToo() {
        CompletableFuture<Void> emitted = emit(new Rest());
        pipeline.complete(null);

        assertThat(emitted).isCompleted();
        assertThat(acknowledged).isEmpty();
        assertThat(queue.changes()).containsExactly(new Change("handle", 4));
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void messageOfASinkThatThrowsIsReturned() {
        assertThat(emit(new Rest() {
                    @Override
                    public CompletableFuture<Void> emit(
                            Collection<Message<String>> messages, MessageProcessingContext<String> context) {
                        throw new IllegalStateException("no thread");
                    }
                }))
                .isCompletedExceptionally();

        assertThat(queue.changes()).containsExactly(new Change("handle", 4));
    }

    @Test
    void messageOfASinkThatCrashesIsAbandoned() {
        assertThat(emit(new Rest() {
                    @Override
                    public CompletableFuture<Void> emit(
                            Collection<Message<String>> messages, MessageProcessingContext<String> context) {
                        throw new OutOfMemoryError("unable to create native thread (simulated)");
                    }
                }))
                .isCompleted();

        assertThat(queue.changes()).isEmpty();
        assertThat(supervisor.inFlight()).isZero();
    }

    /** Trap: a listener that has lost its permits polls no more. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void permitsOfMessagesThatCrashWhileTheyAreBegunAreGivenBackOnceAndTheseAreAbandoned(boolean isFifo) {
        List<Integer> released = new ArrayList<>();
        context = context.setBackPressureReleaseCallback(() -> released.add(1));
        failing = new OutOfMemoryError("simulated");
        Delivery another = new Delivery(delivery.subscription(), "another-id", "another", 1, clock.nanoTime());
        List<Message<String>> poll = List.of(
                message,
                new ReceivedMessage(another, null, "", "body", UnknownOrigin.INSTANCE)
                        .attachTo(ListenerRig.message(Map.of()), Map.of()));
        DeliverySink<String> sink = new DeliverySink<>(
                new Rest(), ListenerRig.engine(deliveries), ListenerRig.settings(new Listener(), "handle"), isFifo);

        assertThat(sink.emit(poll, context)).isDone();

        assertThat(released).hasSize(2);
        assertThat(queue.changes()).isEmpty();
        assertThat(supervisor.inFlight()).isZero();
    }

    /** Trap: one that a counter of the poll's own keeps back is lost to the listener for good. */
    @Test
    void permitThatAGroupOfAFifoQueueTookAgainAfterAWaitIsGivenBack() {
        List<Integer> released = new ArrayList<>();
        context = context.setBackPressureReleaseCallback(() -> released.add(1));
        Rest afterAWait = new Rest() {
            @Override
            public CompletableFuture<Void> emit(
                    Collection<Message<String>> messages, MessageProcessingContext<String> context) {
                context.runBackPressureReleaseCallback();
                context.runBackPressureReleaseCallback();
                return CompletableFuture.completedFuture(null);
            }
        };

        var unused = new DeliverySink<>(
                        afterAWait,
                        ListenerRig.engine(deliveries),
                        ListenerRig.settings(new Listener(), "handle"),
                        true)
                .emit(List.of(message), context);

        assertThat(released).hasSize(2);
    }

    @Test
    void messageOfASinkThatHasStoppedIsVisibleAtOnce() {
        pipeline.complete(null);
        var unused = emit(new Rest() {
            @Override
            public boolean isRunning() {
                return false;
            }
        });

        assertThat(queue.changes()).containsExactly(new Change("handle", 0));
    }
}
