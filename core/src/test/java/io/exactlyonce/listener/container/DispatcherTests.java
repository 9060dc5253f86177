package io.exactlyonce.listener.container;

import static io.exactlyonce.listener.FakeReceives.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.FifoBatchGroupingStrategy;
import io.awspring.cloud.sqs.listener.backpressure.ConcurrencyLimiterBlockingBackPressureHandler;
import io.awspring.cloud.sqs.listener.sink.AbstractMessageProcessingPipelineSink;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.method.ListenerRig;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.messaging.support.MessageBuilder;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

class DispatcherTests {

    static class Reruns {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(String order) {}
    }

    static class Keyed {
        @ExactlyOnceListener(queueNames = "orders", key = "#headers['order']")
        void handle(String order) {}
    }

    static class Parks {
        @ExactlyOnceListener(queueNames = "orders", whenInDoubt = InDoubtPolicy.PARK)
        void handle(String order) {}
    }

    static class Batches {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(List<String> orders) {}
    }

    static class ParkedBatches {
        @ExactlyOnceListener(queueNames = "orders", whenInDoubt = InDoubtPolicy.PARK)
        void handle(List<String> orders) {}
    }

    private static final String FIFO = "orders.fifo";

    private final Deque<Runnable> waiting = new ArrayDeque<>();

    /** Keeps handlers waiting for a thread until {@link #runThreads} is called. */
    private DispatcherRig withoutThreads(DispatcherRig rig) {
        rig.executor = waiting::add;
        return rig;
    }

    private void runThreads() {
        while (!waiting.isEmpty()) {
            waiting.remove().run();
        }
    }

    private static List<DeliveryState> states(DispatcherRig rig) {
        return rig.received.stream().map(Delivery::state).toList();
    }

    @Test
    void pollIsClaimedInOneCallAndOnlyWhatAcquiredItsKeyTakesAThread() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Reruns(), "orders"));
        rig.holdStore();
        rig.store.onClaim(() -> new Acquired(1, 1, false));
        rig.store.onClaim(() -> new AlreadyCompleted(null));
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(5)));
        rig.store.onClaim(Parked::new);
        rig.store.onClaim(() -> new Acquired(1, 1, false));

        rig.arrive("m1", "m2", "m3", "m4", "m5");
        assertThat(waiting).as("nothing is known yet").isEmpty();
        rig.answerStore();

        assertThat(rig.store.claimCalls()).isOne();
        assertThat(waiting).hasSize(2);
        assertThat(rig.permits()).as("of the two that are to be handled").isEqualTo(2);
        assertThat(states(rig))
                .containsExactly(
                        DeliveryState.CLAIMED,
                        DeliveryState.GONE,
                        DeliveryState.WAITING,
                        DeliveryState.RETURNED,
                        DeliveryState.CLAIMED);
        runThreads();
        assertThat(rig.handled).containsExactly(List.of("m1"), List.of("m5"));
    }

    @Test
    void messageWithoutAUsableKeyTakesNeitherAClaimNorAThread() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Keyed(), "orders"));
        MessageAttributeValue key = MessageAttributeValue.builder()
                .dataType("String")
                .stringValue("A-1")
                .build();

        rig.arrive(List.of(
                message("bad", "", 1),
                message("good", "", 1).toBuilder()
                        .messageAttributes(Map.of("order", key))
                        .build()));

        assertThat(rig.store.claims())
                .singleElement()
                .matches(claim -> claim.key().key().equals("A-1"));
        assertThat(waiting).hasSize(1);
        assertThat(rig.permits()).isOne();
        assertThat(rig.sqs.takeChanges()).containsExactly(Map.entry("bad", 4));
    }

    @Test
    void keysThatAreNotSimplyRunAgainAreClaimedOnlyByThreads() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Parks(), "orders"));

        rig.arrive("m1", "m2");
        assertThat(rig.store.claims()).isEmpty();
        assertThat(waiting).hasSize(2);

        runThreads();
        assertThat(rig.store.claims()).hasSize(2);
    }

    @Test
    void nothingIsClaimedWithItsPollForAnExecutorOfTheApplicationsOwn() {
        ContainerSettings settings =
                ListenerRig.settings(new Reruns(), "handle").onOwnExecutor();
        DispatcherRig rig = withoutThreads(new DispatcherRig(settings, "orders", options -> {}));

        rig.arrive("m1");

        assertThat(rig.store.claims()).isEmpty();
        assertThat(waiting).hasSize(1);
    }

    /**
     * An application's executor may run a task on the calling thread, or block that thread. Threads of the SDK and of
     * the store must therefore never call the executor.
     */
    @Test
    void messagesAreHandedToAnExecutorOfTheApplicationsOwnOnThreadsOfTheListeners() {
        ContainerSettings settings =
                ListenerRig.settings(new Reruns(), "handle").onOwnExecutor();
        DispatcherRig rig = new DispatcherRig(settings, FIFO, options -> {});
        rig.threads = waiting::add;

        rig.arrive("a1", "a2");
        assertThat(rig.handled).isEmpty();
        waiting.remove().run();
        assertThat(rig.handled).containsExactly(List.of("a1"));
        waiting.remove().run();

        assertThat(rig.handled).containsExactly(List.of("a1"), List.of("a2"));
    }

    @Test
    void messagesOfFifoQueuesAreClaimedOnlyByThreads() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Reruns(), FIFO));

        rig.arrive("a1", "a2", "b1");

        assertThat(rig.store.claims()).isEmpty();
        assertThat(waiting).as("the first of each group").hasSize(2);
        assertThat(rig.permits()).isEqualTo(3);
    }

    @Test
    void leaseThatEndsBeforeItsThreadIsThereIsReleasedAndTheMessageReturned() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Reruns(), "orders"));
        rig.arrive("m1");
        rig.clock.advance(Duration.ofMinutes(1));

        runThreads();

        assertThat(rig.handled).isEmpty();
        assertThat(rig.store.releases()).hasSize(1);
        assertThat(states(rig)).containsExactly(DeliveryState.RETURNED);
        assertThat(rig.isAtAnEnd()).isTrue();
    }

    @Test
    void stopReleasesWhatIsClaimedAndNotStartedAndItsThreadFindsNothingToDo() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Reruns(), "orders"));
        rig.arrive("m1");
        rig.holdStore();

        rig.deliveries.beginStop(rig.subscription);
        assertThat(rig.sqs.takeChanges()).as("its key is not free yet").isEmpty();
        rig.answerStore();

        assertThat(rig.store.releases()).singleElement().matches(release -> !release.inDoubt());
        assertThat(rig.sqs.takeChanges()).containsExactly(Map.entry("m1", 0));
        runThreads();
        assertThat(rig.handled).isEmpty();
        assertThat(rig.isAtAnEnd()).isTrue();
    }

    /** Interceptors, listeners and error handlers of an application must never receive an empty batch. */
    @Test
    void threadOfABatchThatTheStopHasReleasedFindsNothingToDo() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Batches(), "orders"));
        rig.arrive("m1", "m2");

        rig.deliveries.beginStop(rig.subscription);
        runThreads();

        assertThat(rig.handled).isEmpty();
        assertThat(states(rig)).containsOnly(DeliveryState.RETURNED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void claimOfAMessageThatAnInterceptorDropsIsReleasedBeforeItIsReturned(boolean throwsInstead) {
        DispatcherRig rig = new DispatcherRig(new Reruns(), "orders");
        rig.handler = messages -> {
            if (throwsInstead) {
                throw new IllegalStateException("an interceptor's own");
            }
            return CompletableFuture.completedFuture(null);
        };

        rig.arrive("m1");

        assertThat(rig.handled).hasSize(1);
        assertThat(rig.store.releases()).singleElement().matches(release -> !release.inDoubt());
        assertThat(rig.sqs.takeChanges()).containsExactly(Map.entry("m1", 4));
        assertThat(rig.isAtAnEnd()).isTrue();
    }

    @Test
    void failureIsALineAndSpringCloudAwsLogsItsStackTraceAtDebug() {
        for (Class<?>[] verbose : new Class<?>[][] {{}, {AbstractMessageProcessingPipelineSink.class}}) {
            try (CapturedLog log = new CapturedLog(verbose)) {
                DispatcherRig rig = new DispatcherRig(new Reruns(), "orders");
                rig.handler = rig::fail;
                rig.arrive("m1");
                rig.executor = task -> {
                    throw new TaskRejectedException("full (simulated)");
                };
                rig.arrive("m2");

                assertThat(log.text())
                        .contains(" (receive 1) of listener 'listener' on queue 'orders' failed with"
                                + " java.lang.IllegalStateException (attempt 1 at ")
                        .contains(" (receive 1) of listener 'listener' on queue 'orders' failed with"
                                + " org.springframework.core.task.TaskRejectedException (attempt 1 at ")
                        .doesNotContain("ERROR");
                assertThat(log.text().contains("DispatcherRig.fail")).isEqualTo(verbose.length > 0);
            }
        }
    }

    /**
     * The failure comes after the handler's success: from an interceptor, an observer or an asynchronous error handler.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failureBehindAHandlerThatHasSucceededIsALineToo(boolean isBatch) {
        try (CapturedLog log = new CapturedLog(new Class<?>[0])) {
            DispatcherRig rig = new DispatcherRig(isBatch ? new Batches() : new Reruns(), "orders");
            rig.handler = messages -> rig.complete(messages)
                    .thenCompose(done -> CompletableFuture.failedFuture(new IllegalStateException("card 4711")));

            rig.arrive("m1");

            assertThat(rig.sqs.deletes()).containsExactly(List.of("m1"));
            assertThat(log.text())
                    .containsPattern("WARN .* message .* failed with java.lang.IllegalStateException"
                            + " \\(attempt 1 at orders/[0-9a-f]{16}\\); next attempt none: its handler has succeeded")
                    .doesNotContain("4711");
        }
    }

    @Test
    void itemsOfABatchThatAreNotNamedAsFailedHaveNoLine() {
        try (CapturedLog log = new CapturedLog(new Class<?>[0])) {
            DispatcherRig rig = new DispatcherRig(new Batches(), "orders");
            rig.handler = rig::failFirst;

            rig.arrive("m1", "m2");

            assertThat(rig.sqs.deletes()).containsExactly(List.of("m2"));
            assertThat(log.text().lines().filter(line -> line.contains("failed with")))
                    .singleElement()
                    .matches(line -> line.contains("java.io.IOException"));
        }
    }

    /**
     * One message loses its claim, so the batch fails with an exception. The exception adds no log line for the other
     * messages, whose handler succeeded.
     */
    @Test
    void claimOfABatchThatIsLostGivesItsMessageALineAndTheOthersNone() {
        try (CapturedLog log = new CapturedLog(new Class<?>[0])) {
            DispatcherRig rig = new DispatcherRig(new Batches(), "orders");
            rig.handler = messages -> {
                DispatcherRig.delivery(messages.get(0)).stopHandler();
                return rig.complete(messages);
            };

            rig.arrive("m1", "m2");

            assertThat(rig.sqs.deletes()).containsExactly(List.of("m2"));
            assertThat(log.text().lines().filter(line -> line.contains("failed with")))
                    .singleElement()
                    .matches(line -> line.contains(rig.received.get(0).messageId()));
        }
    }

    /** On a FIFO queue, the handler's thread claims the key, so a message without a thread has no claim. */
    @Test
    void messageWithoutAThreadHasALineThoughItIsNotClaimed() {
        try (CapturedLog log = new CapturedLog(new Class<?>[0])) {
            DispatcherRig rig = new DispatcherRig(new Parks(), FIFO);
            rig.executor = task -> {
                throw new TaskRejectedException("full (simulated)");
            };

            rig.arrive("a1");

            assertThat(log.text())
                    .containsPattern("message .* failed with org.springframework.core.task.TaskRejectedException"
                            + " \\(orders.fifo/[0-9a-f]{16}, not claimed\\); next attempt in 4.0 s");
        }
    }

    @Test
    void errorHandlerThatHidesAFailureAcknowledgesNothing() {
        DispatcherRig rig = new DispatcherRig(new Reruns(), "orders");
        rig.handler = messages -> rig.fail(messages).exceptionally(hidden -> null);

        rig.arrive("m1");

        assertThat(rig.sqs.deletes()).isEmpty();
        assertThat(states(rig)).containsExactly(DeliveryState.RETURNED);
    }

    /** Trap: callbacks received the polled message, which lacks the changes of interceptors. */
    @Test
    void acknowledgementResultCallbackGetsMessagesAsInterceptorsHandedThemOn() {
        for (DispatcherRig rig :
                List.of(new DispatcherRig(new Reruns(), "orders"), new DispatcherRig(new Batches(), "orders"))) {
            rig.interceptor = message -> MessageBuilder.<Object>withPayload("changed")
                    .copyHeaders(message.getHeaders())
                    .setHeader("tenant", "t1")
                    .build();

            rig.arrive("m1");

            assertThat(rig.acknowledged)
                    .singleElement()
                    .satisfies(messages -> assertThat(messages).singleElement().satisfies(message -> {
                        assertThat(message.getPayload()).isEqualTo("changed");
                        assertThat(message.getHeaders()).containsEntry("tenant", "t1");
                    }));
        }
    }

    /**
     * A slow handler can keep a thousand messages of the same key waiting. Large messages would then fill the memory.
     */
    @Test
    void messageThatWaitsForItsKeyIsNotKeptInMemory() {
        for (Object listener : List.of(new Reruns(), new Batches(), new Parks())) {
            DispatcherRig rig = new DispatcherRig(listener, "orders");
            rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(5)));
            Reference<?> source = arrive(rig, "waits");

            assertThat(states(rig)).containsExactly(DeliveryState.WAITING);
            assertCollected(source);
            rig.store.putState(rig.received.get(0).attempt().request().key(), KeyState.completed(null));
            rig.deliveries.waiting().tick();

            assertThat(rig.sqs.deletes()).containsExactly(List.of("waits"));
            assertThat(rig.acknowledged)
                    .as("its content is no longer there to be passed on")
                    .isEmpty();
            assertThat(rig.isAtAnEnd()).isTrue();
        }
    }

    /** This is a separate method, because the stack frame of the test would otherwise keep the message reachable. */
    private static Reference<?> arrive(DispatcherRig rig, String name) {
        var message = FakeReceives.message(name, name.substring(0, 1), 1);
        rig.arrive(List.of(message));
        return new WeakReference<>(message);
    }

    private static void assertCollected(Reference<?> content) {
        await().atMost(Duration.ofSeconds(5)).until(() -> {
            System.gc();
            return content.refersTo(null);
        });
    }

    @ParameterizedTest
    @EnumSource
    void batchesHoldOneGroupOrSeveralAsIsConfigured(FifoBatchGroupingStrategy strategy) {
        DispatcherRig rig = new DispatcherRig(
                ListenerRig.settings(new Batches(), "handle"),
                FIFO,
                options -> options.fifoBatchGroupingStrategy(strategy));

        rig.arrive("a1", "b1", "a2");

        if (strategy == FifoBatchGroupingStrategy.PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES) {
            assertThat(rig.handled).containsExactlyInAnyOrder(List.of("a1", "a2"), List.of("b1"));
        } else {
            assertThat(rig.handled).containsExactly(List.of("a1", "b1", "a2"));
        }
    }

    @Test
    void batchOfMoreMessagesThanTheConcurrencyBeginsAloneAndReleasesAllPermits() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(
                ListenerRig.settings(new Batches(), "handle"),
                "orders",
                options -> options.maxConcurrentMessages(2).maxMessagesPerPoll(2)));

        rig.arrive("m1", "m2", "m3");
        rig.arrive("n1");
        assertThat(waiting).hasSize(1);
        runThreads();

        assertThat(rig.handled).containsExactly(List.of("m1", "m2", "m3"), List.of("n1"));
        assertThat(rig.isAtAnEnd()).isTrue();
    }

    /**
     * Trap: if the executor rejects a task, Spring Cloud AWS throws and keeps the permits. A listener without permits
     * stops polling.
     */
    @ParameterizedTest
    @CsvSource({"orders, false", "orders, true", "orders.fifo, false", "orders.fifo, true"})
    void permitsAreReleasedAndMessagesReturned(String queue, boolean isBatch) {
        DispatcherRig rig = new DispatcherRig(isBatch ? new ParkedBatches() : new Parks(), queue);
        rig.executor = task -> {
            throw new TaskRejectedException("full (simulated)");
        };

        rig.arrive("a1", "a2", "b1");

        assertThat(rig.handled).isEmpty();
        assertThat(states(rig)).containsOnly(DeliveryState.RETURNED);
        assertThat(rig.isAtAnEnd()).isTrue();
        assertThat(rig.renewer.renewedCount()).isZero();
    }

    /**
     * The recorded outcome decides whether the first message stays in the queue. If the message stays, the rest of its
     * group is returned, so the rest must not start earlier.
     */
    @Test
    void nextMessageOfAGroupBeginsOnlyWhenHowTheOneBeforeItEndedIsOnRecord() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Reruns(), FIFO));
        rig.arrive("a1", "a2");
        rig.handler = messages -> {
            rig.holdStore();
            return rig.complete(messages);
        };

        runThreads();
        assertThat(rig.handled)
                .as("its handler has ended, and nothing is recorded")
                .containsExactly(List.of("a1"));
        assertThat(rig.permits()).as("no permit waits for the store").isOne();
        assertThat(rig.sqs.deletes()).isEmpty();
        assertThat(rig.isAtAnEnd()).isFalse();

        rig.answerStore();
        assertThat(rig.sqs.deletes()).containsExactly(List.of("a1"));
        assertThat(waiting).as("the next one").hasSize(1);
    }

    @Test
    void firstMessageOfAGroupThatStaysSendsTheRestBack() {
        DispatcherRig rig = new DispatcherRig(new Reruns(), FIFO);
        rig.handler = rig::fail;

        rig.arrive("a1", "a2", "a3", "b1");

        assertThat(rig.handled).containsExactly(List.of("a1"), List.of("b1"));
        assertThat(rig.sqs.takeChanges()).containsEntry("a2", 0).containsEntry("a3", 0);
        assertThat(rig.isAtAnEnd()).isTrue();
    }

    @Test
    void restOfAGroupContinuesBehindAMessageThatItsQueueGivesUp() {
        DispatcherRig rig = new DispatcherRig(new Reruns(), FIFO);
        rig.handler = rig::fail;

        rig.arriveAgain(3, "a1", "a2");

        assertThat(rig.handled).containsExactly(List.of("a1"), List.of("a2"));
        assertThat(rig.isAtAnEnd()).isTrue();
    }

    @Test
    void restOfAGroupIsSentBackWhereThePolicyWasRaisedMeanwhileOrCannotBeRead() {
        for (boolean isRaised : new boolean[] {true, false}) {
            DispatcherRig rig = new DispatcherRig(new Reruns(), FIFO);
            rig.handler = rig::fail;
            if (isRaised) {
                rig.sqs.attributes.put(QueueAttributeName.REDRIVE_POLICY, DispatcherRig.POLICY.replace('3', '9'));
            } else {
                rig.sqs.answerReads(() -> CompletableFuture.failedFuture(new IllegalStateException("throttled")));
            }

            rig.arriveAgain(3, "a1", "a2");

            assertThat(rig.handled).containsExactly(List.of("a1"));
            assertThat(rig.isAtAnEnd()).isTrue();
        }
    }

    /**
     * N17: if the head of a group waits, later messages of the group are returned, even on their last receive. Order
     * has priority.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void restOfAGroupIsSentBackBehindAMessageThatWaits(int receiveCount) {
        DispatcherRig rig = new DispatcherRig(new Reruns(), FIFO);
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(5)));
        rig.handler = rig::fail;

        rig.arriveAgain(receiveCount, "a1", "a2", "a3");

        assertThat(rig.handled).isEmpty();
        assertThat(rig.sqs.takeChanges()).containsOnly(Map.entry("a2", 0), Map.entry("a3", 0));
        assertThat(rig.permits()).as("what waits needs none").isZero();
        assertThat(rig.isAtAnEnd()).isTrue();
    }

    @Test
    void listenerThatStopsWaitsForTheRestOfAGroupAlsoBetweenTwoOfItsMessages() {
        DispatcherRig rig = withoutThreads(new DispatcherRig(new Reruns(), FIFO));
        rig.handler = rig::fail;
        rig.arriveAgain(3, "a1", "a2", "a3");
        rig.deliveries.beginStop(rig.subscription);

        waiting.remove().run();
        assertThat(rig.isAtAnEnd()).isFalse();
        waiting.remove().run();
        assertThat(rig.isAtAnEnd()).isFalse();
        runThreads();

        assertThat(rig.handled).containsExactly(List.of("a1"), List.of("a2"), List.of("a3"));
        assertThat(rig.isAtAnEnd()).isTrue();
    }

    /** Delivers two messages whose handlers have ended. The store has not recorded the outcomes yet. */
    private static DispatcherRig twoBeingRecorded() {
        DispatcherRig rig = new DispatcherRig(
                ListenerRig.settings(new Parks(), "handle"),
                "orders",
                options -> options.maxConcurrentMessages(2).maxMessagesPerPoll(2));
        CompletableFuture<Void> ends = new CompletableFuture<>();
        rig.handler = messages -> ends.thenRun(() -> rig.complete(messages));
        rig.arrive("m1", "m2");
        rig.holdStore();
        ends.complete(null);
        return rig;
    }

    @Test
    void listenerDoesNotPollWhileAsManyOutcomesAsItMayHandleAreNotOnRecord() throws Exception {
        DispatcherRig rig = twoBeingRecorded();
        assertThat(rig.permits()).isZero();
        assertThat(rig.subscription.levels().recording()).hasValue(2);
        assertThat(rig.dispatcher.awaitCapacity(Duration.ZERO)).isFalse();

        rig.asked.remove().run();

        assertThat(rig.dispatcher.awaitCapacity(Duration.ZERO)).isTrue();
        assertThat(rig.subscription.levels().recording()).hasValue(1);
    }

    @Test
    void listenerThatStopsWaitsForThemAsForItsHandlersAndNoLonger() throws Exception {
        DispatcherRig rig = twoBeingRecorded();
        assertThat(rig.dispatcher.awaitEnd(Duration.ofMillis(20))).isFalse();

        rig.answerStore();

        assertThat(rig.dispatcher.awaitEnd(Duration.ofSeconds(30))).isTrue();
        assertThat(rig.sqs.deletes()).hasSize(2);
    }

    @Test
    void listenerThatStopsWaitsUntilOutcomesAreOnRecord() throws Exception {
        DispatcherRig rig = twoBeingRecorded();
        FutureTask<Boolean> end = new FutureTask<>(() -> rig.dispatcher.awaitEnd(Duration.ofSeconds(30)));
        Thread stopping = new Thread(end);
        stopping.start();
        await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING || end.isDone());

        rig.answerStore();

        assertThat(end.get()).isTrue();
    }

    /**
     * The application's back pressure may permit fewer messages than the listener's concurrency. This back pressure
     * counts each released permit as a completed message.
     */
    @Test
    void nothingIsPrefetchedOnPermitsOfTheApplicationsOwnBackPressure() {
        DispatcherRig rig = new DispatcherRig(
                ListenerRig.settings(new Reruns(), "handle"),
                "orders",
                options -> options.backPressureHandlerFactory(
                        unused -> ConcurrencyLimiterBlockingBackPressureHandler.builder()
                                .batchSize(1)
                                .totalPermits(1)
                                .acquireTimeout(Duration.ofMillis(10))
                                .build()));
        rig.arrive("quick");
        rig.executor = waiting::add;

        rig.arrive("m1");

        assertThat(rig.permits()).isOne();
    }

    private void runAll(List<CompletableFuture<Void>> handlers) {
        while (!waiting.isEmpty() || !handlers.isEmpty()) {
            runThreads();
            List<CompletableFuture<Void>> ending = List.copyOf(handlers);
            handlers.clear();
            ending.forEach(handler -> handler.complete(null));
        }
    }

    /**
     * Events come in random order, and random steps crash. At the end every permit is free, nothing is counted twice,
     * and no renewal continues.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void permitsAndPlacesAreCompleteAtTheEndWhateverTheOrder(long seed) {
        Random random = new Random(seed);
        Object[] listeners = {new Reruns(), new Parks(), new Batches(), new ParkedBatches()};
        for (int run = 0; run < 15; run++) {
            Object listener = listeners[random.nextInt(listeners.length)];
            DispatcherRig rig = new DispatcherRig(listener, random.nextBoolean() ? FIFO : "orders");
            List<CompletableFuture<Void>> handlers = new ArrayList<>();
            rig.executor = task -> {
                switch (random.nextInt(12)) {
                    case 0 -> throw new TaskRejectedException("full (simulated)");
                    case 1 -> throw new OutOfMemoryError("unable to create native thread (simulated)");
                    default -> waiting.add(task);
                }
            };
            rig.handler = messages -> {
                switch (random.nextInt(8)) {
                    case 0 -> throw new IllegalStateException("an interceptor's own");
                    case 1 -> throw new StackOverflowError("simulated");
                    case 2 -> {
                        return CompletableFuture.completedFuture(null);
                    }
                    case 3 -> {
                        return rig.fail(messages);
                    }
                    default -> {
                        CompletableFuture<Void> end = new CompletableFuture<>();
                        handlers.add(end);
                        return end.thenCompose(done -> rig.complete(messages));
                    }
                }
            };
            for (int step = 0; step < 60; step++) {
                switch (random.nextInt(6)) {
                    case 0 -> {
                        if (rig.permits() < 10) {
                            String[] names = new String[1 + random.nextInt(3)];
                            for (int name = 0; name < names.length; name++) {
                                names[name] = "abc".charAt(random.nextInt(3)) + "-" + step + "-" + name;
                            }
                            if (random.nextInt(4) == 0) {
                                rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(5)));
                            }
                            rig.arriveAgain(1 + random.nextInt(3), names);
                        }
                    }
                    case 1 -> rig.holdStore();
                    case 2 -> rig.answerStore();
                    case 3 ->
                        rig.clock.advance(Duration.ofMillis(random.nextInt(random.nextInt(9) == 0 ? 20_000 : 50)));
                    case 4 -> {
                        if (!handlers.isEmpty()) {
                            handlers.remove(random.nextInt(handlers.size())).complete(null);
                        }
                    }
                    default -> {
                        if (!waiting.isEmpty()) {
                            // The store must answer, because the task may claim on this thread and wait for the answer.
                            rig.releaseStore();
                            waiting.remove().run();
                        }
                    }
                }
                assertThat(rig.permits()).isNotNegative();
            }
            rig.releaseStore();
            if (random.nextBoolean()) {
                rig.deliveries.beginStop(rig.subscription);
            }
            runAll(handlers);
            // A stop ends the waits for keys.
            rig.deliveries.beginStop(rig.subscription);
            runAll(handlers);

            assertThat(rig.permits()).isZero();
            assertThat(rig.isAtAnEnd()).isTrue();
            assertThat(rig.subscription.levels().recording()).hasValue(0);
            assertThat(rig.renewer.renewedCount()).isZero();
        }
    }
}
