package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.visibility.PollGate;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Batches whose keys are in doubt, and batches of a FIFO queue. */
class BatchDoubtTests {

    private static final Acquired CLEAN = new Acquired(1, 1, false);
    private static final Acquired DOUBTFUL = new Acquired(2, 2, true);

    private final DeliveryRig rig = new DeliveryRig();
    private final List<Delivery> deliveries = new ArrayList<>();
    private final List<Integer> handed = new ArrayList<>();
    private List<Delivery> batch = List.of();
    private InDoubtPolicy doubt = InDoubtPolicy.RERUN;
    private Subscription subscription = rig.orders;
    private int receiveCount = 1;

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void eachMessageInDoubtIsReconciledBeforeTheHandler() throws Throwable {
        reconcile((listener, scope, claim) -> {
            assertThat(handed).isEmpty();
            claim.ensureHeld();
            return claim.key().equals("done") ? Reconciliation.done("charged") : Reconciliation.runAgain();
        });
        answer(DOUBTFUL, CLEAN, DOUBTFUL);

        process("done", "new", "again");

        assertThat(handed).containsExactly(1, 2);
        assertThat(rig.store.completionCalls())
                .as("the reconciler's is recorded before the handler begins")
                .isEqualTo(2);
        assertThat(rig.store.completions())
                .extracting(ClaimEnd.Completed::claim)
                .containsExactlyInAnyOrderElementsOf(claimed());
        assertThat(acknowledged()).containsExactly(0, 1, 2);
    }

    @Test
    void handlerIsNotCalledIfTheReconcilerLeavesNothing() throws Throwable {
        reconcile((listener, scope, claim) -> Reconciliation.done(null));
        answer(DOUBTFUL, DOUBTFUL);

        process("a", "b");

        assertThat(handed).isEmpty();
        assertThat(acknowledged()).containsExactly(0, 1);
    }

    @Test
    void reconcilerParksOneMessageOnly() throws Throwable {
        reconcile((listener, scope, claim) -> Reconciliation.park("ask the carrier"));
        answer(DOUBTFUL, CLEAN);

        process("a", "b");

        assertThat(rig.store.parkings())
                .containsExactly(new ClaimEnd.Parked(claimed().get(0), "ask the carrier", false));
        assertThat(handed).containsExactly(1);
        assertThat(acknowledged()).containsExactly(1);
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void reconcilerThatFailsFailsOneMessageOnlyAndKeepsItsDoubt() {
        reconcile((listener, scope, claim) -> {
            throw new IllegalStateException("carrier is away");
        });
        answer(DOUBTFUL, CLEAN);

        assertThatThrownBy(() -> process("a", "b")).hasMessageContaining("carrier is away");

        assertThat(rig.store.releases()).singleElement().satisfies(release -> {
            assertThat(release.claim()).isEqualTo(claimed().get(0));
            assertThat(release.ambiguous()).isTrue();
        });
        assertThat(handed).containsExactly(1);
        assertThat(acknowledged()).containsExactly(1);
    }

    @Test
    void slowReconciliationHandsOverNoMessageWhoseLeaseItUsedUp() {
        reconcile((listener, scope, claim) -> {
            rig.clock.advance(Duration.ofSeconds(25));
            return Reconciliation.runAgain();
        });
        answer(CLEAN, DOUBTFUL, CLEAN);

        assertThatThrownBy(() -> process("a", "b", "c"))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("before the handler was called");

        assertThat(handed).isEmpty();
        assertThat(rig.store.releases())
                .containsExactlyInAnyOrderElementsOf(
                        claimed().stream().map(BatchDoubtTests::notCalled).toList());
        assertThat(acknowledged()).isEmpty();
    }

    @Test
    void messageThatIsStoppedWhileAnothersReconcilerLooksIsLeftOutAndDisturbsNoOther() {
        reconcile((listener, scope, claim) -> {
            deliveries.get(0).stopHandler();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return Reconciliation.runAgain();
        });
        answer(CLEAN, DOUBTFUL);

        assertThatThrownBy(() -> run(
                        acquired -> {
                            handle(acquired);
                            assertThat(rig.store.releases())
                                    .as("given back before the handler, which may take long")
                                    .containsExactly(notCalled(claimed().get(0)));
                            deliveries.get(1).stopHandler();
                            assertThat(Thread.interrupted()).isTrue();
                        },
                        items("a", "b")))
                .isInstanceOf(ClaimLostException.class);

        assertThat(handed).containsExactly(1);
        assertThat(acknowledged()).containsExactly(1);
    }

    @Test
    void interruptThatAReconcilerSwallowsKeepsItsOwnMessageFromTheHandlerAndLeavesTheOthersWithoutADoubt() {
        reconcile((listener, scope, claim) -> {
            deliveries.get(0).stopHandler();
            assertThat(Thread.interrupted()).isTrue();
            return Reconciliation.runAgain();
        });
        answer(DOUBTFUL, CLEAN);

        assertThatThrownBy(() -> run(
                        acquired -> {
                            handle(acquired);
                            throw new IllegalStateException("carrier is away");
                        },
                        items("a", "b")))
                .hasMessage("carrier is away");

        assertThat(handed).containsExactly(1);
        assertThat(rig.store.releases())
                .containsExactly(
                        notCalled(claimed().get(0)),
                        new ClaimEnd.Released(
                                claimed().get(1), "java.lang.IllegalStateException: carrier is away", false));
    }

    @Test
    void messageThatIsLostWhileALaterOneOfItsGroupIsReconciledStopsThatOne() {
        reconcile((listener, scope, claim) -> {
            deliveries.get(0).stopHandler();
            return Reconciliation.runAgain();
        });
        answer(CLEAN, DOUBTFUL, CLEAN);

        assertThatThrownBy(() -> run(this::handle, fifo("a/1", "a/2", "b/1"))).isInstanceOf(ClaimLostException.class);

        assertThat(handed).containsExactly(2);
        assertThat(acknowledged()).containsExactly(2);
        assertThat(rig.returns()).containsExactly(4, 0);
    }

    @Test
    void messagesThatTheListenersStopMetDuringAReconciliationAreVisibleAtOnce() {
        reconcile((listener, scope, claim) -> {
            rig.deliveries().beginStop(rig.orders);
            return Reconciliation.runAgain();
        });
        answer(DOUBTFUL, CLEAN);

        assertThatThrownBy(() -> process("a", "b")).isInstanceOf(ClaimLostException.class);

        assertThat(handed).isEmpty();
        assertThat(acknowledged()).isEmpty();
        assertThat(rig.returns()).containsExactly(0, 0);
    }

    @Test
    void timeoutIsOneForReconcilersAndHandler() {
        limit();
        reconcile((listener, scope, claim) -> {
            rig.tickFor(Duration.ofSeconds(6));
            return Reconciliation.runAgain();
        });
        answer(DOUBTFUL, DOUBTFUL);

        assertThatThrownBy(() -> process("a", "b")).isInstanceOf(ClaimLostException.class);

        assertThat(handed).isEmpty();
        assertThat(rig.timedOut).hasSize(2);
    }

    @Test
    void timeoutOfAMessageThatTheReconcilerHasSettledDoesNotCountTheHandlerOfTheOthers() throws Throwable {
        limit();
        reconcile((listener, scope, claim) -> Reconciliation.done(null));
        answer(DOUBTFUL, CLEAN);

        run(acquired -> rig.tickFor(Duration.ofSeconds(12)), items("a", "b"));

        assertThat(rig.timedOut).as("that of the other one").hasSize(1);
        assertThat(acknowledged()).containsExactly(0, 1);
    }

    @Test
    void timeoutDoesNotCountTheCompletion() {
        limit();
        rig.store.onComplete(requested -> {
            rig.tickFor(Duration.ofSeconds(12));
            return requested;
        });

        assertThatThrownBy(() -> run(
                        acquired -> {
                            throw BatchItemFailures.of(0);
                        },
                        items("a", "b")))
                .isInstanceOf(BatchItemFailures.class);

        assertThat(rig.timedOut).isEmpty();
    }

    private void limit() {
        subscription = new Subscription(
                "limited", "orders", rig.orders.window(), Duration.ofSeconds(10), rig.queue, null, PollGate.OPEN);
    }

    @Test
    void namedMessageIsParkedForItsOwnCause() {
        doubt = new InDoubtPolicy(AbandonedPolicy.RERUN, null, List.of(IllegalArgumentException.class));
        BatchItemFailures failures = new BatchItemFailures();
        failures.add(0, new IllegalArgumentException("no such street"));
        failures.add(1, new IllegalStateException("carrier is away"));

        assertThatThrownBy(() -> run(
                        acquired -> {
                            throw failures;
                        },
                        items("a", "b", "c")))
                .isSameAs(failures);

        assertThat(rig.store.parkings())
                .extracting(ClaimEnd.Parked::claim)
                .containsExactly(claimed().get(0));
        assertThat(rig.store.releases())
                .extracting(ClaimEnd.Released::claim)
                .containsExactly(claimed().get(1));
        assertThat(acknowledged()).containsExactly(2);
    }

    @Test
    void batchThatWasStoppedFromOutsideIsParkedUnderThatPolicy() {
        doubt = new InDoubtPolicy(AbandonedPolicy.PARK, null, List.of());

        assertThatThrownBy(() -> run(
                        acquired -> {
                            deliveries.get(1).stopHandler();
                            new CountDownLatch(1).await(10, TimeUnit.SECONDS);
                        },
                        items("a", "b")))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.claims()).extracting(ClaimRequest::inDoubt).containsOnly(InDoubt.PARK);
        assertThat(rig.store.parkings()).hasSize(2).allMatch(ClaimEnd.Parked::ambiguous);
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void messageThatStaysStopsTheLaterOnesOfItsGroupOnly() throws Throwable {
        answer(CLEAN, new HeldElsewhere(DeliveryRig.WINDOW), CLEAN, CLEAN, new AlreadyCompleted(null));

        run(this::handle, fifo("a/1", "a/2", "a/3", "b/1", "a/4"));

        assertThat(handed).containsExactly(0, 3);
        assertThat(rig.store.releases())
                .containsExactly(
                        new ClaimEnd.Released(claimed().get(2), "an earlier message of its group comes first", false));
        assertThat(acknowledged()).containsExactly(0, 3, 4);
        assertThat(rig.orders.levels().waiting()).hasValue(1);
        assertThat(rig.returns()).containsExactly(0);
    }

    @Test
    void claimsOfAStoppedGroupAreGivenBackBeforeTheHandlerRuns() throws Throwable {
        answer(new HeldElsewhere(DeliveryRig.WINDOW), CLEAN, CLEAN);

        run(acquired -> assertThat(rig.store.releases()).hasSize(1), fifo("a/1", "a/2", "b/1"));

        assertThat(acknowledged()).containsExactly(2);
    }

    @Test
    void messageWithoutAKeyStopsItsGroup() throws Throwable {
        List<Delivery> items = new ArrayList<>(fifo("a/1", "a/2"));
        items.set(0, DeliveryRig.asking(deliveries.get(0), "a", null));

        run(this::handle, items);

        assertThat(handed).isEmpty();
        assertThat(acknowledged()).isEmpty();
        assertThat(rig.returns()).containsExactly(4, 0);
    }

    @Test
    void messageThatItsQueueGivesUpNowStopsNoOther() throws Throwable {
        subscription = new Subscription("listener", "orders", rig.orders.window(), null, rig.queue, 3, PollGate.OPEN);
        receiveCount = 3;
        List<Delivery> items = new ArrayList<>(fifo("a/1", "a/2"));
        items.set(0, DeliveryRig.asking(deliveries.get(0), "a", null));

        run(this::handle, items);

        assertThat(handed).containsExactly(1);
    }

    @Test
    void groupWhoseFirstMessageIsParkedByTheReconcilerIsStopped() throws Throwable {
        reconcile((listener, scope, claim) -> Reconciliation.park("ask the carrier"));
        answer(DOUBTFUL, CLEAN, CLEAN);

        run(this::handle, fifo("a/1", "a/2", "b/1"));

        assertThat(handed).containsExactly(2);
        assertThat(rig.store.releases())
                .extracting(ClaimEnd.Released::claim)
                .containsExactly(claimed().get(1));
        assertThat(acknowledged()).containsExactly(2);
        assertThat(rig.returns()).containsExactly(4, 0);
    }

    @Test
    void laterMessagesOfAGroupThatTheHandlerGotAreCompletedAlthoughAnEarlierOneFailed() {
        assertThatThrownBy(() -> run(
                        acquired -> {
                            throw BatchItemFailures.of(0);
                        },
                        fifo("a/1", "a/2")))
                .isInstanceOf(BatchItemFailures.class);

        assertThat(acknowledged()).containsExactly(1);
    }

    private static ClaimEnd.Released notCalled(ClaimId claim) {
        return new ClaimEnd.Released(claim, "the handler was not called", false);
    }

    private void reconcile(Reconciler reconciler) {
        doubt = new InDoubtPolicy(AbandonedPolicy.RECONCILE, reconciler, List.of());
    }

    private void process(String... keys) throws Throwable {
        run(this::handle, items(keys));
    }

    private void run(DeliveryRig.BatchHandler handler, List<Delivery> items) throws Throwable {
        batch = items;
        rig.process(items, handler);
    }

    private void handle(List<Delivery> acquired) {
        acquired.forEach(item -> handed.add(batch.indexOf(item)));
    }

    private List<Delivery> items(String... keys) {
        return IntStream.range(0, keys.length)
                .mapToObj(index -> item(keys[index], ""))
                .toList();
    }

    private List<Delivery> fifo(String... keys) {
        return IntStream.range(0, keys.length)
                .mapToObj(index -> item(keys[index], keys[index].substring(0, 1)))
                .toList();
    }

    private Delivery item(String key, String group) {
        Delivery delivery = rig.receive(subscription, key, receiveCount);
        deliveries.add(delivery);
        return DeliveryRig.asking(delivery, group, new ClaimSpec(new ClaimKey("orders", key), null, doubt));
    }

    private void answer(ClaimOutcome... outcomes) {
        for (ClaimOutcome outcome : outcomes) {
            rig.store.onClaim(() -> outcome);
        }
    }

    private List<ClaimId> claimed() {
        return rig.store.claims().stream().map(ClaimRequest::id).toList();
    }

    /** Settles all, as the pipeline's end does; returns which of them are to be deleted. */
    private List<Integer> acknowledged() {
        return IntStream.range(0, deliveries.size())
                .filter(index -> rig.deliveries().settle(deliveries.get(index)))
                .boxed()
                .toList();
    }
}
