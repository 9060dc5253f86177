package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactories;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.support.observation.SqsListenerObservation;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.waiting.StoreCircuitBreaker;
import io.exactlyonce.listener.message.MessageOrigin;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.listener.permits.HandlerSlots;
import io.exactlyonce.listener.permits.PausingBackPressureHandler;
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
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;

/** A group of three messages on their last receive, whose first one waits for the holder of its key. */
class MessageGroupSinkTests {

    private final FakeClock clock = new FakeClock();
    private final DeliveryObserver observer = new DeliveryObserver() {};
    private Supplier<CompletableFuture<Boolean>> givesUp = () -> CompletableFuture.completedFuture(true);
    private final RenewalSupervisor supervisor = new RenewalSupervisor(
            new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), observer, Runnable::run, clock, () -> 0);
    private final Deliveries deliveries = new Deliveries(
            supervisor, observer, new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)), clock, () -> 0, 10);
    private final ScriptedQueue queue = new ScriptedQueue();
    private final Subscription subscription =
            new Subscription("listener", "orders.fifo", VisibilityWindow.ofSeconds(30), null, queue, 1);
    private final SqsContainerOptions options = SqsContainerOptions.builder()
            .maxConcurrentMessages(3)
            .maxMessagesPerPoll(3)
            .maxDelayBetweenPolls(Duration.ofMillis(20))
            .build();
    private final PausingBackPressureHandler permits = (PausingBackPressureHandler) PausingBackPressureHandler.around(
                    BackPressureHandlerFactories.concurrencyLimiterBackPressureHandler(),
                    new StoreCircuitBreaker(observer),
                    true,
                    System::nanoTime)
            .createBackPressureHandler(options);
    private final List<String> handled = new ArrayList<>();
    private final List<Integer> released = new ArrayList<>();
    private Executor continuations = Runnable::run;
    private final MessageGroupSink<String> sink =
            new MessageGroupSink<>(ListenerRig.engine(deliveries), next -> continuations.execute(next));

    private Message<String> received(String name) {
        Delivery delivery = new Delivery(subscription, name, name, 1, clock.nanoTime());
        deliveries.begin(List.of(delivery));
        MessageOrigin origin = new MessageOrigin() {
            @Override
            public CompletableFuture<Boolean> givesUp(Delivery failed) {
                return givesUp.get();
            }

            @Override
            public HandlerSlots slots() {
                return permits.slots();
            }

            @Override
            public void recording(CompletableFuture<?> settled) {}
        };
        return new ReceivedMessage(delivery, null, "a", "body", origin)
                .attachTo(ListenerRig.message(Map.of(SqsHeaders.SQS_QUEUE_NAME_HEADER, "orders.fifo")), Map.of());
    }

    private static Delivery delivery(Message<?> message) {
        return ReceivedMessage.require(message).delivery();
    }

    /** The first message waits, the rest fails. */
    private CompletableFuture<Message<String>> process(Message<String> message) {
        Delivery delivery = delivery(message);
        if (delivery.messageId().startsWith("a1")) {
            delivery.enter();
            ClaimRequest asked =
                    new ClaimRequest(new ClaimKey("orders", "a1"), UUID.randomUUID(), "worker", Duration.ofSeconds(30));
            delivery.decide(new Disposition.Await(asked, Duration.ZERO, true));
            delivery.leave();
            return CompletableFuture.completedFuture(message);
        }
        handled.add(delivery.messageId());
        return CompletableFuture.failedFuture(new IllegalStateException("the handler's own"));
    }

    private void start() {
        sink.configure(options);
        sink.setObservationSpecifics(new SqsListenerObservation.SqsSpecifics());
        sink.setTaskExecutor(Runnable::run);
        sink.setMessagePipeline(new MessageProcessingPipeline<>() {
            @Override
            public CompletableFuture<Message<String>> process(
                    Message<String> message, MessageProcessingContext<String> context) {
                return MessageGroupSinkTests.this.process(message);
            }
        });
        sink.start();
    }

    /** Counts the permits that are given back. */
    private CompletableFuture<Void> emit(List<Message<String>> group) {
        return emit(() -> released.add(1), group);
    }

    /** Gives permits back to the listener's own. */
    private CompletableFuture<Void> emitOfPermits(List<Message<String>> group) {
        return emit(() -> permits.release(1, ReleaseReason.PROCESSED), group);
    }

    private CompletableFuture<Void> emit(Runnable release, List<Message<String>> group) {
        return sink.emit(group, MessageProcessingContext.<String>create().setBackPressureReleaseCallback(release::run));
    }

    /** Otherwise the rest is interrupted before it begins, and ends untried in the dead-letter queue. */
    @Test
    void nextMessageOfAGroupBeginsOnlyWhenHowTheOneBeforeItEndedIsOnRecord() throws Exception {
        start();
        Message<String> first = received("b1");
        Message<String> second = received("b2");
        delivery(first).enter();
        CompletableFuture<Void> emitted = emit(List.of(first, second));

        assertThat(handled).as("its handler has ended, and nothing is recorded").containsExactly("b1");
        assertThat(released).as("no permit waits for the store").hasSize(1);
        assertThat(queue.changes()).isEmpty();

        delivery(first).leave();

        assertThat(handled).containsExactly("b1", "b2");
        assertThat(emitted).isCompleted();
        assertThat(released).hasSize(2);
    }

    @Test
    void listenerThatStopsWaitsForTheRestOfAGroupAlsoBetweenTwoOfItsMessages() throws Exception {
        start();
        assertThat(permits.requestBatch()).isEqualTo(3);
        List<String> handledBeforeTheStop = new ArrayList<>();
        List<Message<String>> group = List.of(received("a1"), received("a2"), received("a3"));
        CompletableFuture<Void> emitted =
                sink.emit(group, MessageProcessingContext.<String>create().setBackPressureReleaseCallback(() -> {
                    permits.release(1, ReleaseReason.PROCESSED);
                    if (!handled.isEmpty() && permits.drain(Duration.ZERO)) {
                        handledBeforeTheStop.addAll(handled);
                    }
                }));
        assertThat(emitted).as("the first one waits").isNotDone();

        deliveries.stop(subscription).begin();

        assertThat(emitted).isCompleted();
        assertThat(handledBeforeTheStop).containsExactly("a2", "a3");
        assertThat(handled).containsExactly("a2", "a3");
    }

    @Test
    void restsOfGroupsThatWaitKeepTheirPermitsAndLeaveTheirHeads() throws Exception {
        start();
        List<CompletableFuture<Void>> emitted = new ArrayList<>();
        for (String group : List.of("-1", "-2")) {
            assertThat(permits.request(2)).isEqualTo(2);
            emitted.add(emitOfPermits(List.of(received("a1" + group), received("a2" + group))));
        }
        assertThat(permits.request(1)).as("the heads wait without one").isOne();
        assertThat(permits.request(1)).isZero();
        permits.release(1, ReleaseReason.NONE_FETCHED);

        deliveries.stop(subscription).begin();

        assertThat(emitted).allMatch(CompletableFuture::isDone);
        assertThat(handled).containsExactlyInAnyOrder("a2-1", "a2-2");
        assertThat(permits.drain(Duration.ZERO)).isTrue();
    }

    /** Trap: a listener that has lost all of its permits polls no more. */
    @Test
    void restOfAGroupThatFindsNoThreadToGoOnGivesItsPermitsBack() throws Exception {
        start();
        continuations = next -> {
            throw new OutOfMemoryError("unable to create native thread (simulated)");
        };

        CompletableFuture<Void> emitted = emit(List.of(received("b1"), received("b2"), received("b3")));

        assertThat(emitted).isDone();
        assertThat(handled).containsExactly("b1");
        assertThat(released).hasSize(3);
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void groupThatCrashesWhileItIsAskedWhetherItsHeadIsGivenUpGivesItsPermitsBackOnceAndIsRenewedNoMore() {
        start();
        givesUp = () -> {
            throw new NoClassDefFoundError("io/tracing/Span");
        };

        CompletableFuture<Void> emitted = emit(List.of(received("b1"), received("b2"), received("b3")));

        assertThat(emitted).isDone();
        assertThat(handled).containsExactly("b1");
        assertThat(released).hasSize(3);
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void restOfAGroupThatHasWaitedAndCrashesGivesItsPermitsBack() throws Exception {
        start();
        assertThat(permits.requestBatch()).isEqualTo(3);
        CompletableFuture<Void> emitted = emitOfPermits(List.of(received("a1"), received("a2"), received("a3")));
        givesUp = () -> {
            throw new NoClassDefFoundError("io/tracing/Span");
        };

        deliveries.stop(subscription).begin();

        assertThat(emitted).isDone();
        assertThat(handled).isEmpty();
        assertThat(permits.drain(Duration.ZERO)).isTrue();
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void restOfAGroupThatHasWaitedAndFindsNoThreadToGoOnGivesItsPermitsBack() throws Exception {
        start();
        assertThat(permits.requestBatch()).isEqualTo(3);
        CompletableFuture<Void> emitted = emitOfPermits(List.of(received("a1"), received("a2"), received("a3")));
        continuations = next -> {
            throw new OutOfMemoryError("unable to create native thread (simulated)");
        };

        deliveries.stop(subscription).begin();

        assertThat(emitted).isDone();
        assertThat(handled).isEmpty();
        assertThat(permits.drain(Duration.ZERO)).isTrue();
        assertThat(supervisor.inFlight()).isZero();
    }
}
