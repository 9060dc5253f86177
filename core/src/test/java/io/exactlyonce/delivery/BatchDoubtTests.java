package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.BatchResult;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Batches whose keys are in doubt, and batches of a FIFO queue. */
class BatchDoubtTests {

    private static final Acquired CLEAN = new Acquired(1, 1, false);
    private static final Acquired DOUBTFUL = new Acquired(2, 2, true);

    private final DeliveryRig rig = new DeliveryRig();
    private final List<Integer> handed = new ArrayList<>();
    private List<Delivery> batch = List.of();
    private InDoubtSettings doubt = InDoubtSettings.RERUN;
    private Subscription subscription = rig.orders;
    private int receiveCount = 1;

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void eachMessageInDoubtIsReconciledBeforeTheHandler() throws Throwable {
        reconcile(attempt -> {
            assertThat(handed).isEmpty();
            attempt.claim().ensureHeld();
            return attempt.claim().key().equals("done") ? Reconciliation.done("charged") : Reconciliation.runAgain();
        });
        rig.store.answer(DOUBTFUL, CLEAN, DOUBTFUL);

        rig.process(items("done", "new", "again"), this::handle);

        assertThat(handed).containsExactly(1, 2);
        assertThat(rig.store.completionCalls())
                .as("the reconciler's is recorded before the handler begins")
                .isEqualTo(2);
        assertThat(rig.store.completions())
                .extracting(ClaimResolution.Completed::claim)
                .containsExactlyInAnyOrderElementsOf(rig.store.claimed());
        assertThat(rig.settle(batch)).containsExactly(0, 1, 2);
    }

    @Test
    void reconcilerThatFailsFailsOneMessageOnlyAndKeepsItsDoubt() {
        reconcile(attempt -> {
            throw new IllegalStateException("carrier is away");
        });
        rig.store.answer(DOUBTFUL, CLEAN);

        assertThat(rig.failureOf(items("a", "b"), this::handle)).hasMessageContaining("carrier is away");

        rig.assertReleasedInDoubt();
        assertThat(handed).containsExactly(1);
        assertThat(rig.settle(batch)).containsExactly(1);
    }

    @Test
    void slowReconciliationHandsOverNoMessageWhoseLeaseItUsedUp() {
        reconcile(attempt -> {
            rig.clock.advance(Duration.ofSeconds(25));
            return Reconciliation.runAgain();
        });
        rig.store.answer(CLEAN, DOUBTFUL, CLEAN);

        assertThat(rig.failureOf(items("a", "b", "c"), this::handle))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("before the handler was called");

        assertThat(handed).isEmpty();
        assertThat(rig.store.releases())
                .containsExactlyInAnyOrderElementsOf(rig.store.claimed().stream()
                        .map(BatchDoubtTests::notCalled)
                        .toList());
        assertThat(rig.settle(batch)).isEmpty();
    }

    @Test
    void messageThatIsStoppedWhileAnothersReconcilerRunsIsLeftOutAndDisturbsNoOther() {
        reconcile(attempt -> {
            batch.get(0).stopHandler();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return Reconciliation.runAgain();
        });
        rig.store.answer(CLEAN, DOUBTFUL);

        assertThat(rig.failureOf(items("a", "b"), acquired -> {
                    handle(acquired);
                    assertThat(rig.store.releases())
                            .as("given back before the handler, which may take long")
                            .containsExactly(notCalled(rig.claimed()));
                    batch.get(1).stopHandler();
                    assertThat(Thread.interrupted()).isTrue();
                }))
                .isInstanceOf(ClaimLostException.class);

        assertThat(handed).containsExactly(1);
        assertThat(rig.settle(batch)).containsExactly(1);
    }

    @Test
    void timeoutIsOneForReconcilersAndHandler() {
        subscription = rig.limited(Duration.ofSeconds(10));
        reconcile(attempt -> {
            rig.tickFor(Duration.ofSeconds(6));
            return Reconciliation.runAgain();
        });
        rig.store.answer(DOUBTFUL, DOUBTFUL);

        assertThat(rig.failureOf(items("a", "b"), this::handle)).isInstanceOf(ClaimLostException.class);

        assertThat(handed).isEmpty();
        assertThat(rig.timedOut).hasSize(2);
    }

    @Test
    void namedMessageIsParkedForItsOwnCause() {
        doubt = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(IllegalArgumentException.class));
        BatchResult result = BatchResult.failed(0, new IllegalArgumentException("no such street"))
                .andFailed(1, new IllegalStateException("carrier is away"));

        assertThat(rig.failureOf(items("a", "b", "c"), acquired -> DeliveryRig.end(result, acquired)))
                .isInstanceOf(FailedItems.class);

        assertThat(rig.store.parkings())
                .extracting(parked -> parked.claim().key().key())
                .containsExactly("a");
        assertThat(released()).containsExactly("b");
        assertThat(rig.settle(batch)).containsExactly(2);
    }

    /**
     * The handler may have had effects for the other messages. Their leases have also expired, because the pause was
     * longer than each lease.
     */
    @Test
    void handlerThatDetectsOneLostClaimLeavesADoubtOnAllMessages() {
        assertThat(rig.failureOf(items("a", "b", "c"), acquired -> {
                    rig.clock.advance(Duration.ofSeconds(21));
                    acquired.get(1).attempt().claim().ensureHeld();
                }))
                .isInstanceOf(ClaimLostException.class);

        assertThat(rig.store.releases()).hasSize(3).allMatch(ClaimResolution.Released::inDoubt);
    }

    @Test
    void handlerThatDetectsOneLostClaimParksAllMessagesIfDoubtsAreParked() {
        doubt = new InDoubtSettings(InDoubtPolicy.PARK, null, List.of());

        assertThat(rig.failureOf(items("a", "b"), acquired -> {
                    rig.clock.advance(Duration.ofSeconds(21));
                    acquired.get(1).attempt().claim().ensureHeld();
                }))
                .isInstanceOf(ClaimLostException.class);

        assertThat(rig.store.parkings()).hasSize(2).allMatch(ClaimResolution.Parked::inDoubt);
    }

    /**
     * An exception that is not itself a {@code FailedItems} fails all messages, as if the handler had thrown the lost
     * claim.
     */
    @Test
    void lossThatIsNamedByAnExceptionThatFailsTheWholeBatchLeavesADoubtOnAllMessages() {
        assertThat(rig.failureOf(items("a", "b"), acquired -> {
                    rig.clock.advance(Duration.ofSeconds(21));
                    BatchResult result = nameLossOfSecond(acquired, BatchResult.allSucceeded());
                    throw new IllegalStateException(FailedItems.in(result, "The handler", 2));
                }))
                .hasCauseInstanceOf(FailedItems.class);

        assertThat(rig.store.releases()).hasSize(2).allMatch(ClaimResolution.Released::inDoubt);
    }

    @Test
    void lossThatIsNamedBesideAnItemThatIsNotThereLeavesADoubtOnAllMessages() {
        BatchResult beyond = BatchResult.failed(7, new IllegalStateException("carrier is away"));

        assertThat(rig.failureOf(items("a", "b"), acquired -> {
                    rig.clock.advance(Duration.ofSeconds(21));
                    DeliveryRig.end(nameLossOfSecond(acquired, beyond), acquired);
                }))
                .isInstanceOf(FailedItems.class)
                .hasMessageContaining("the failed index 7, but its list had 2 items");

        assertThat(rig.store.releases()).hasSize(2).allMatch(ClaimResolution.Released::inDoubt);
    }

    @Test
    void messageThatTheHandlerNamesWithItsLostClaimIsTheOnlyOneInDoubt() {
        BatchResult first = BatchResult.failed(0, new IllegalStateException("carrier is away"));

        assertThat(rig.failureOf(items("a", "b", "c"), acquired -> {
                    rig.clock.advance(Duration.ofSeconds(21));
                    DeliveryRig.end(nameLossOfSecond(acquired, first), acquired);
                }))
                .isInstanceOf(FailedItems.class);

        assertThat(rig.store.releases())
                .extracting(release -> release.claim().key().key(), ClaimResolution.Released::inDoubt)
                .containsExactly(tuple("a", false), tuple("b", true));
        assertThat(rig.settle(batch)).containsExactly(2);
    }

    @Test
    void messageThatStaysStopsTheLaterOnesOfItsGroupOnly() throws Throwable {
        rig.store.answer(CLEAN, new HeldElsewhere(DeliveryRig.WINDOW), CLEAN, CLEAN, new AlreadyCompleted(null));

        rig.process(fifo("a/1", "a/2", "a/3", "b/1", "a/4"), acquired -> {
            handle(acquired);
            assertThat(released()).as("given back before the handler runs").containsExactly("a/3");
        });

        assertThat(handed).containsExactly(0, 3);
        assertThat(rig.store.releases())
                .extracting(ClaimResolution.Released::error, ClaimResolution.Released::inDoubt)
                .containsExactly(tuple("an earlier message of its group comes first", false));
        assertThat(rig.settle(batch)).containsExactly(0, 3, 4);
        assertThat(rig.orders.levels().waiting()).hasValue(1);
        assertThat(rig.returns()).containsExactly(0);
    }

    @Test
    void messageThatIsLostWhileALaterOneOfItsGroupIsReconciledStopsThatOne() {
        reconcile(attempt -> {
            batch.get(0).stopHandler();
            return Reconciliation.runAgain();
        });
        rig.store.answer(CLEAN, DOUBTFUL, CLEAN);

        assertThat(rig.failureOf(fifo("a/1", "a/2", "b/1"), this::handle)).isInstanceOf(ClaimLostException.class);

        assertThat(handed).containsExactly(2);
        assertThat(rig.settle(batch)).containsExactly(2);
        assertThat(rig.returns()).containsExactly(4, 0);
    }

    @Test
    void groupWhoseFirstMessageIsParkedByTheReconcilerIsStopped() throws Throwable {
        reconcile(attempt -> Reconciliation.park("ask the carrier"));
        rig.store.answer(DOUBTFUL, CLEAN, CLEAN);

        rig.process(fifo("a/1", "a/2", "b/1"), this::handle);

        assertThat(rig.store.parkings())
                .containsExactly(new ClaimResolution.Parked(rig.claimed(), "ask the carrier", false));
        assertThat(handed).containsExactly(2);
        assertThat(released()).containsExactly("a/2");
        assertThat(rig.settle(batch)).containsExactly(2);
        assertThat(rig.returns()).containsExactly(4, 0);
    }

    @Test
    void messageWithoutAKeyStopsItsGroup() throws Throwable {
        rig.process(keylessFirst(), this::handle);

        assertThat(handed).isEmpty();
        assertThat(rig.settle(batch)).isEmpty();
        assertThat(rig.returns()).containsExactly(4, 0);
    }

    @Test
    void messageThatItsQueueGivesUpNowStopsNoOther() throws Throwable {
        subscription = rig.receiving(3);
        receiveCount = 3;

        rig.process(keylessFirst(), this::handle);

        assertThat(handed).containsExactly(1);
    }

    private List<Delivery> keylessFirst() {
        fifo("a/1", "a/2");
        DeliveryRig.asking(batch.get(0), "a", null);
        return batch;
    }

    @Test
    void laterMessagesOfAGroupThatTheHandlerGotAreCompletedAlthoughAnEarlierOneFailed() {
        BatchResult first = BatchResult.failed(0, new IllegalStateException("carrier is away"));

        assertThat(rig.failureOf(fifo("a/1", "a/2"), acquired -> DeliveryRig.end(first, acquired)))
                .isInstanceOf(FailedItems.class);

        assertThat(rig.settle(batch)).containsExactly(1);
    }

    private static ClaimResolution.Released notCalled(ClaimId claim) {
        return new ClaimResolution.Released(claim, "the handler was not called", false);
    }

    private void reconcile(Reconciler<String> reconciler) {
        doubt = new InDoubtSettings(InDoubtPolicy.RECONCILE, reconciler, List.of());
    }

    private void handle(List<Delivery> acquired) {
        acquired.forEach(item -> handed.add(batch.indexOf(item)));
    }

    private static BatchResult nameLossOfSecond(List<Delivery> acquired, BatchResult result) {
        try {
            acquired.get(1).attempt().claim().ensureHeld();
            return result;
        } catch (ClaimLostException lost) {
            return result.andFailed(1, lost);
        }
    }

    private List<Delivery> items(String... keys) {
        return receive(key -> "", keys);
    }

    /** Receives messages of a FIFO queue. The first letter of each key is the name of the group. */
    private List<Delivery> fifo(String... keys) {
        return receive(key -> key.substring(0, 1), keys);
    }

    private List<Delivery> receive(UnaryOperator<String> group, String... keys) {
        batch = Stream.of(keys)
                .map(key -> DeliveryRig.asking(
                        rig.receive(subscription, key, receiveCount),
                        group.apply(key),
                        new ClaimSpec(DeliveryRig.key(key), null, doubt)))
                .toList();
        return batch;
    }

    private List<String> released() {
        return rig.store.releases().stream()
                .map(release -> release.claim().key().key())
                .toList();
    }
}
