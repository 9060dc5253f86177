package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.MessageProcessingPipelineSink;
import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.Message;

/** What is claimed before there is a thread for it, and what becomes of that. */
class ClaimsWithThePollTests {

    static class Reruns {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(String order) {}
    }

    static class KeyedByAnEntry {
        @ExactlyOnceListener(queueNames = "orders", key = "#headers['order']?.id ?: 'none'")
        void handle(String order) {}
    }

    static class Keyed {
        @ExactlyOnceListener(queueNames = "orders", key = "#headers['order']")
        void handle(String order) {}
    }

    static class Parks {
        @ExactlyOnceListener(queueNames = "orders", onAbandoned = AbandonedPolicy.PARK)
        void handle(String order) {}
    }

    static class Batches {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(List<String> orders) {}
    }

    private final FakeClock clock = new FakeClock();
    private final ScriptedQueue queue = new ScriptedQueue();
    private final ScriptedStore store = new ScriptedStore();
    private final DeliveryObserver noObserver = new DeliveryObserver() {};
    private final Deliveries deliveries = new Deliveries(
            new RenewalSupervisor(store, new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0),
            noObserver,
            new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)),
            clock,
            () -> 0,
            10);
    private final Subscription orders =
            new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), null, queue, 3);
    private final List<Runnable> asked = Collections.synchronizedList(new ArrayList<>());
    private final ListenerEngine engine = ListenerRig.engine(deliveries, store, asked::add);
    private final AtomicInteger permits = new AtomicInteger();
    private final MessageProcessingContext<String> context =
            MessageProcessingContext.<String>create().setBackPressureReleaseCallback(permits::incrementAndGet);
    private final Threads threads = new Threads();

    /** Stands for awspring's own sink: what it was given waits for threads. */
    private static final class Threads implements MessageProcessingPipelineSink<String> {

        private final List<Message<String>> waiting = new ArrayList<>();
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private MessageProcessingPipeline<String> pipeline;

        @Override
        public CompletableFuture<Void> emit(
                Collection<Message<String>> messages, MessageProcessingContext<String> context) {
            waiting.addAll(messages);
            return done;
        }

        @Override
        public void setMessagePipeline(MessageProcessingPipeline<String> given) {
            pipeline = given;
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

    /** What the container's own pipeline is given: interceptors, then the handler. */
    private final List<Message<String>> handled = new ArrayList<>();

    private final MessageProcessingPipeline<String> own = new MessageProcessingPipeline<>() {
        @Override
        public CompletableFuture<Message<String>> process(
                Message<String> message, MessageProcessingContext<String> context) {
            handled.add(message);
            return CompletableFuture.completedFuture(message);
        }
    };

    private CompletableFuture<Void> emit(Object listener, List<Message<String>> messages) {
        return emit(ListenerRig.settings(listener, "handle"), messages, false);
    }

    private CompletableFuture<Void> emit(ContainerSettings settings, List<Message<String>> messages, boolean isFifo) {
        DeliverySink<String> sink = new DeliverySink<>(threads, engine, settings, isFifo);
        sink.setMessagePipeline(own);
        return sink.emit(messages, context);
    }

    private Message<String> receive(String id) {
        return receive(id, "", 1, Map.of());
    }

    private Message<String> receive(String id, String group, int receives, Map<String, Object> headers) {
        Delivery delivery = new Delivery(orders, id, id, receives, clock.nanoTime());
        return new ReceivedMessage(delivery, null, group, "body", UnknownOrigin.INSTANCE)
                .attachTo(ListenerRig.message(headers), Map.of());
    }

    private static Delivery delivery(Message<?> message) {
        return ReceivedMessage.require(message).delivery();
    }

    private void answerAll() {
        while (!asked.isEmpty()) {
            asked.remove(0).run();
        }
    }

    @Test
    void pollIsClaimedInOneCallAndOnlyWhatAcquiredItsKeyTakesAThread() {
        List<Message<String>> poll = List.of(receive("1"), receive("2"), receive("3"), receive("4"));
        store.onClaim(() -> new Acquired(1, 1, false));
        store.onClaim(() -> new AlreadyCompleted(null));
        store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(5)));
        store.onClaim(() -> new Acquired(1, 1, false));

        CompletableFuture<Void> emitted = emit(new Reruns(), poll);
        assertThat(threads.waiting).as("nothing is known yet").isEmpty();
        answerAll();

        assertThat(store.claimCalls()).isOne();
        assertThat(threads.waiting).containsExactly(poll.get(0), poll.get(3));
        assertThat(permits)
                .as("those of the duplicate and of the one that waits")
                .hasValue(2);
        assertThat(poll.stream().map(message -> delivery(message).state()))
                .containsExactly(
                        DeliveryState.CLAIMED, DeliveryState.DELETING, DeliveryState.WAITING, DeliveryState.CLAIMED);
        assertThat(emitted).isNotDone();
    }

    @Test
    void parkedKeysMessageIsReturnedAndItsPermitIsBack() {
        store.onClaim(Parked::new);

        CompletableFuture<Void> emitted = emit(new Reruns(), List.of(receive("1")));
        answerAll();

        assertThat(emitted).isCompleted();
        assertThat(threads.waiting).isEmpty();
        assertThat(permits).hasValue(1);
        assertThat(queue.changes()).containsExactly(new Change("1", 4));
    }

    @Test
    void messageWithoutAUsableKeyTakesNeitherAClaimNorAThread() {
        Message<String> bad = receive("bad");
        Message<String> good = receive("good", "", 1, Map.of("order", "A-1"));

        emit(new Keyed(), List.of(bad, good));
        answerAll();

        assertThat(store.claims())
                .singleElement()
                .matches(claim -> claim.key().key().equals("A-1"));
        assertThat(threads.waiting).containsExactly(good);
        assertThat(permits).hasValue(1);
        assertThat(queue.changes()).containsExactly(new Change("bad", 4));
    }

    @Test
    void keysThatAreNotSimplyRunAgainAreClaimedOnlyByThreads() {
        emit(new Parks(), List.of(receive("1"), receive("2")));

        assertThat(asked).isEmpty();
        assertThat(threads.waiting).hasSize(2);
    }

    @Test
    void nothingIsClaimedAheadForAnExecutorOfTheApplicationsOwn() {
        ContainerSettings settings = ListenerRig.settings(new Reruns(), "handle");
        settings.ownExecutor();

        emit(settings, List.of(receive("1")), false);

        assertThat(asked).isEmpty();
        assertThat(threads.waiting).hasSize(1);
    }

    @Test
    void messagesOfFifoQueuesAreClaimedOnlyByThreads() {
        List<Message<String>> poll = List.of(receive("a1", "a", 1, Map.of()), receive("b1", "b", 1, Map.of()));

        emit(ListenerRig.settings(new Reruns(), "handle"), poll, true);

        assertThat(asked).isEmpty();
        assertThat(threads.waiting).isEqualTo(poll);
        assertThat(permits).hasValue(0);
    }

    @Test
    void claimWithoutAnAnswerIsRepeatedAndThenGivenUpAndItsMessageWaits() {
        for (int lost = 0; lost < 3; lost++) {
            store.onClaim(() -> {
                throw new IllegalStateException("connection reset");
            });
        }
        Message<String> message = receive("1");

        emit(new Reruns(), List.of(message));
        answerAll();

        assertThat(store.claims()).hasSize(3);
        assertThat(store.claims().stream().map(claim -> claim.id()).distinct()).hasSize(1);
        assertThat(store.releases()).hasSize(1);
        assertThat(delivery(message).state()).isEqualTo(DeliveryState.WAITING);
        assertThat(permits).hasValue(1);
    }

    @Test
    void lostReplyIsFoundByTheSameClaimRepeated() {
        store.onClaim(() -> {
            throw new IllegalStateException("connection reset");
        });
        Message<String> message = receive("1");

        emit(new Reruns(), List.of(message));
        answerAll();

        assertThat(threads.waiting).containsExactly(message);
        assertThat(store.releases()).isEmpty();
    }

    @Test
    void messageOnItsLastReceiveWhoseClaimGotNoAnswerGoesToItsThreadWhichClaimsOn() {
        for (int lost = 0; lost < 3; lost++) {
            store.onClaim(() -> {
                throw new IllegalStateException("connection reset");
            });
        }
        Message<String> last = receive("1", "", 3, Map.of());

        emit(new Reruns(), List.of(last));
        answerAll();

        assertThat(threads.waiting).containsExactly(last);
        assertThat(delivery(last).state()).isEqualTo(DeliveryState.CLAIMING);
        assertThat(permits).hasValue(0);

        CompletableFuture<Void> thread = CompletableFuture.runAsync(() -> threads.pipeline.process(last, context));
        await().until(() -> {
            answerAll();
            return thread.isDone();
        });
        assertThat(handled).containsExactly(last);
        assertThat(store.claims()).hasSize(4);
    }

    @Test
    void stopGivesBackWhatIsClaimedAndNotBegunAndItsThreadFindsNothingToDo() {
        Message<String> message = receive("1");
        emit(new Reruns(), List.of(message));
        answerAll();

        deliveries.stop(orders).begin();
        assertThat(queue.changes()).as("its key is not free yet").isEmpty();
        answerAll();

        assertThat(store.releases()).singleElement().matches(release -> !release.ambiguous());
        assertThat(queue.changes()).containsExactly(new Change("1", 0));
        assertThat(threads.pipeline.process(message, context)).isCompleted();
        assertThat(handled).isEmpty();
        assertThat(delivery(message).left()).isDone();
    }

    @Test
    void claimThatIsAnsweredAfterItsListenerHasBegunToStopIsGivenBack() {
        Message<String> message = receive("1");
        emit(new Reruns(), List.of(message));

        deliveries.stop(orders).begin();
        answerAll();

        assertThat(threads.waiting).isEmpty();
        assertThat(store.releases()).hasSize(1);
        assertThat(queue.changes()).containsExactly(new Change("1", 0));
        assertThat(permits).hasValue(1);
    }

    @Test
    void claimThatIsAnsweredAfterItsListenerHasEndedIsGivenBackAndNotRenewed() {
        Message<String> message = receive("1");
        emit(new Reruns(), List.of(message));
        Thread.currentThread().interrupt();
        deliveries.stop(orders).end();
        assertThat(Thread.interrupted()).as("it waited no longer").isTrue();
        assertThat(delivery(message).state()).isEqualTo(DeliveryState.ABANDONED);

        answerAll();

        assertThat(store.releases()).hasSize(1);
        assertThat(threads.waiting).isEmpty();
        assertThat(delivery(message).renewal().isHeld()).isFalse();
        assertThat(delivery(message).left()).isDone();
    }

    @Test
    void leaseThatEndsBeforeItsThreadIsThereIsGivenBackAndTheMessageReturned() {
        Message<String> message = receive("1");
        emit(new Reruns(), List.of(message));
        answerAll();
        clock.advance(Duration.ofMinutes(1));

        threads.pipeline.process(message, context);
        answerAll();

        assertThat(handled).isEmpty();
        assertThat(store.releases()).hasSize(1);
        assertThat(delivery(message).state()).isEqualTo(DeliveryState.RETURNED);
    }

    @Test
    void whatTheSinkDropsIsGivenBack() {
        Message<String> message = receive("1");
        emit(new Reruns(), List.of(message));
        answerAll();

        threads.done.complete(null);
        answerAll();

        assertThat(store.releases())
                .containsExactly(
                        new ClaimEnd.Released(store.claims().get(0).id(), "the handler was not called", false));
        assertThat(queue.changes()).containsExactly(new Change("1", 4));
    }

    /** A listener that lost permits so would poll for fewer messages, at last for none, and wait for them without end when it stops. */
    @Test
    void permitsOfAPollThatCrashesBehindItsClaimsAreGivenBackAndNothingElse() {
        Message<String> first = receive("1");
        Message<String> second = receive("2");
        AtomicBoolean isUsedUp = new AtomicBoolean(true);
        NanoClock failing = () -> {
            if (delivery(first).state() == DeliveryState.CLAIMED && isUsedUp.getAndSet(false)) {
                throw new OutOfMemoryError("Java heap space (simulated)");
            }
            return clock.nanoTime();
        };
        RenewalSupervisor supervisor = new RenewalSupervisor(
                store, new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, failing, () -> 0);
        RetryBackoff backoff = new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5));
        ListenerEngine failingOnce = ListenerRig.engine(
                new Deliveries(supervisor, noObserver, backoff, clock, () -> 0, 10), store, asked::add);

        CompletableFuture<Void> emitted = new DeliverySink<>(
                        threads, failingOnce, ListenerRig.settings(new Reruns(), "handle"), false)
                .emit(List.of(first, second), context);
        answerAll();

        assertThat(isUsedUp).isFalse();
        assertThat(emitted).isCompleted();
        assertThat(permits).hasValue(2);
        assertThat(threads.waiting).isEmpty();
        assertThat(store.releases()).isEmpty();
        assertThat(queue.changes()).isEmpty();
    }

    /** The map's own error, which no reflection wraps. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void messageWhoseKeyCrashesIsAbandonedAndCostsNoOtherOfItsPollItsReceive(boolean isFifo) {
        Map<String, String> usedUp = new HashMap<>() {
            @Override
            public boolean containsKey(Object name) {
                throw new StackOverflowError("simulated");
            }
        };
        List<Message<String>> poll = List.of(receive("1"), receive("2", "", 1, Map.of("order", usedUp)), receive("3"));

        emit(ListenerRig.settings(new KeyedByAnEntry(), "handle"), poll, isFifo);
        answerAll();

        assertThat(delivery(poll.get(1)).state()).isEqualTo(DeliveryState.ABANDONED);
        assertThat(poll.stream().map(message -> delivery(message).state()))
                .filteredOn(DeliveryState.ABANDONED::equals)
                .hasSize(1);
        assertThat(permits).hasValue(isFifo ? 0 : 1);
        assertThat(threads.waiting).hasSize(isFifo ? 3 : 2);
        assertThat(queue.changes()).isEmpty();
        assertThat(threads.pipeline.process(poll.get(1), context)).isCompleted();
        assertThat(handled).isEmpty();
    }
}
