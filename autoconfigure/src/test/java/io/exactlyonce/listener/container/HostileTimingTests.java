package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementCallback;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.support.observation.SqsListenerObservation;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.Handler;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.messaging.Message;

/** Interleavings that once broke promises: on threads of the store, and while listeners end. */
class HostileTimingTests {

    private final FakeClock clock = new FakeClock();
    private final ScriptedQueue queue = new ScriptedQueue();
    private final ScriptedStore store = new ScriptedStore();
    private Runnable whenLeaving = () -> {};
    private final DeliveryObserver observer = new DeliveryObserver() {
        @Override
        public void inFlight(Subscription subscription, int change) {
            if (change < 0) {
                whenLeaving.run();
            }
        }
    };
    private final RenewalSupervisor supervisor =
            new RenewalSupervisor(store, new RenewalSchedule(0.5, 0, 3), observer, Runnable::run, clock, () -> 0);
    private final Deliveries deliveries = new Deliveries(
            supervisor, observer, new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)), clock, () -> 0, 10);
    private final Subscription orders =
            new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), null, queue, 3);
    private final List<Runnable> asked = new ArrayList<>();

    private void answerAll() {
        while (!asked.isEmpty()) {
            asked.remove(0).run();
        }
    }

    private Delivery receive(String id) {
        return new Delivery(orders, id, id, 1, clock.nanoTime());
    }

    private Attempt claimAhead(ListenerEngine engine, Delivery delivery) {
        deliveries.begin(List.of(delivery));
        Attempt attempt =
                Attempt.single(delivery, new ClaimSpec(new ClaimKey("orders", "1"), null, InDoubtPolicy.RERUN));
        engine.pipeline().claimAhead(List.of(attempt));
        return attempt;
    }

    /** The claim's answer comes between the two steps of the delivery's end: renewals have stopped, its state has not. */
    @Test
    void claimThatIsAnsweredWhileItsListenerEndsItIsGivenBackAndNotRenewed() {
        ListenerEngine engine = ListenerRig.engine(deliveries, store, asked::add);
        Delivery delivery = receive("1");
        Attempt attempt = claimAhead(engine, delivery);
        whenLeaving = this::answerAll;

        Thread.currentThread().interrupt();
        deliveries.stop(orders).end();
        assertThat(Thread.interrupted()).isTrue();
        engine.pipeline().withdraw(List.of(attempt));
        answerAll();
        for (int second = 0; second < 60; second++) {
            clock.advance(Duration.ofSeconds(1));
            supervisor.tick();
        }

        assertThat(delivery.state()).isEqualTo(DeliveryState.ABANDONED);
        assertThat(store.renewals())
                .as("the lease of a delivery that is no more")
                .isEmpty();
        assertThat(store.releases()).as("its key is free again").hasSize(1);
    }

    /** The claim is answered just before the listener's last step, and its thread has not come to it yet. */
    @Test
    void claimOfADeliveryThatItsListenerEndsIsGivenBack() {
        ListenerEngine engine = ListenerRig.engine(deliveries, store, asked::add);
        Delivery delivery = receive("1");
        Attempt attempt = claimAhead(engine, delivery);
        deliveries.stop(orders).begin();
        answerAll();
        assertThat(delivery.state()).isEqualTo(DeliveryState.CLAIMED);

        Thread.currentThread().interrupt();
        deliveries.stop(orders).end();
        assertThat(Thread.interrupted()).isTrue();
        engine.pipeline().withdraw(List.of(attempt));
        answerAll();

        assertThat(store.releases()).hasSize(1);
    }

    static class Reruns {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(String order) {}
    }

    /** The store's threads are made at its first call, and the system refuses one. */
    @Test
    void pollWhoseClaimsCannotEvenBeAskedForHoldsNoPermitAndIsNotRenewed() {
        ListenerEngine engine = ListenerRig.engine(deliveries, store, task -> {
            throw new OutOfMemoryError("unable to create native thread (simulated)");
        });
        List<Integer> permits = new ArrayList<>();
        DeliverySink<String> sink = new DeliverySink<>(
                new MessageGroupSink<>(engine, Runnable::run),
                engine,
                ListenerRig.settings(new Reruns(), "handle"),
                false);
        Delivery delivery = receive("1");
        Message<String> message = new ReceivedMessage(delivery, null, "", "body", UnknownOrigin.INSTANCE)
                .attachTo(ListenerRig.message(Map.of()), Map.of());

        assertThat(sink.emit(
                        List.of(message),
                        MessageProcessingContext.<String>create().setBackPressureReleaseCallback(() -> permits.add(1))))
                .isDone();

        assertThat(delivery.state()).isIn(DeliveryState.WAITING, DeliveryState.RETURNED, DeliveryState.ABANDONED);
        assertThat(permits).hasSize(1);
    }

    /** The thread that records outcomes is the store's only one, as a flusher is. */
    @Test
    void nextMessageOfAGroupIsNotHandledOnTheThreadThatRecordsWhateverTheExecutorDoes() throws Exception {
        ExecutorService flusher = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "flusher");
            thread.setDaemon(true);
            return thread;
        });
        ListenerEngine engine = ListenerRig.engine(
                deliveries,
                store,
                task -> flusher.execute(() -> {
                    // As long as a commit takes.
                    LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
                    task.run();
                }));
        ContainerSettingsHolder settings = new ContainerSettingsHolder();
        MessageGroupSink<String> groups = new MessageGroupSink<>(engine, new SimpleAsyncTaskExecutor("groups-"));
        List<String> threads = new CopyOnWriteArrayList<>();
        groups.configure(SqsContainerOptions.builder().build());
        groups.setObservationSpecifics(new SqsListenerObservation.SqsSpecifics());
        groups.setTaskExecutor(new SyncTaskExecutor());
        DeliverySink<String> sink = new DeliverySink<>(groups, engine, settings.own(), true);
        sink.setMessagePipeline(new MessageProcessingPipeline<>() {
            @Override
            public CompletableFuture<Message<String>> process(
                    Message<String> message, MessageProcessingContext<String> context) {
                threads.add(Thread.currentThread().getName());
                try {
                    engine.pipeline().process(SettlingPipeline.attempts(List.of(message)), (Handler)
                            claimed -> CompletableFuture.completedFuture(null));
                } catch (Throwable failure) {
                    return CompletableFuture.failedFuture(failure);
                }
                return CompletableFuture.completedFuture(message);
            }
        });
        groups.start();
        List<Message<String>> group = List.of(message("a1"), message("a2"));
        AcknowledgementCallback<String> deletes = new AcknowledgementCallback<>() {};
        CompletableFuture<Void> emitted = sink.emit(
                group,
                MessageProcessingContext.<String>create()
                        .setBackPressureReleaseCallback(() -> {})
                        .setAcknowledgmentCallback(deletes));
        try {
            emitted.get(5, TimeUnit.SECONDS);
        } finally {
            assertThat(threads).as("threads of handlers").doesNotContain("flusher");
            assertThat(flusher.submit(() -> "free").get(5, TimeUnit.SECONDS)).isEqualTo("free");
        }
        assertThat(threads).hasSize(2);
    }

    private Message<String> message(String id) {
        return new ReceivedMessage(receive(id), null, "a", "body", UnknownOrigin.INSTANCE)
                .attachTo(ListenerRig.message(Map.of(SqsHeaders.SQS_QUEUE_NAME_HEADER, "orders.fifo")), Map.of());
    }

    /** An executor of the application's own. */
    private static final class ContainerSettingsHolder {
        io.exactlyonce.listener.method.ContainerSettings own() {
            var settings = ListenerRig.settings(new Reruns(), "handle");
            settings.ownExecutor();
            return settings;
        }
    }
}
