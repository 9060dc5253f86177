package io.exactlyonce.claim.coalescing;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.claim.GatedStore.Batch;
import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Calls whose callers do not wait for the answer. */
class AsyncCallsTests {

    @Test
    void callsThatComeMeanwhileGoTogetherAndEachHasItsOwnOutcomesInOrder() throws Exception {
        try (CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig()) {
            var first = rig.coalescer.claimAsync(List.of(request(newKey())));
            Batch alone = rig.store.next();
            ClaimRequest one = request(newKey());
            ClaimRequest another = request(newKey());
            ClaimRequest last = request(newKey());
            var two = rig.coalescer.claimAsync(List.of(one, another));
            var three = rig.coalescer.claimAsync(List.of(last));
            alone.answer();
            Batch together = rig.store.next();

            assertThat(first.get()).hasSize(1);
            assertThat(together.entries()).isEqualTo(List.of(one, another, last));
            assertThat(two).isNotDone();
            together.answer();
            assertThat(two.get()).containsExactly(GatedStore.outcome(one), GatedStore.outcome(another));
            assertThat(three.get()).containsExactly(GatedStore.outcome(last));
        }
    }

    @Test
    void endThatFollowsTheAnswerOfItsClaimFindsItsKeyFreeAtOnce() throws Exception {
        try (CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig()) {
            ClaimRequest claim = request(newKey());
            ClaimEnd release = new ClaimEnd.Released(claim.id(), "not wanted", false);
            CompletableFuture<Set<ClaimId>> released = rig.coalescer
                    .claimAsync(List.of(claim))
                    .thenCompose(outcomes -> rig.coalescer.endAsync(List.of(release)));
            rig.store.next().answer();

            Batch releasing = rig.store.next();
            assertThat(releasing.entries()).isEqualTo(List.of(release));
            releasing.answer();
            assertThat(released.get()).containsExactly(claim.id());
        }
    }

    @Test
    void futureFailsOnlyWhenNothingOfItsCallIsOnItsWayAnyMore() throws Exception {
        try (CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig(2, 1, CoalescingClaimStoreRig.PATIENCE)) {
            var claims = rig.coalescer.claimAsync(List.of(request(newKey()), request(newKey())));
            Batch failing = rig.store.next();
            Batch onItsWay = rig.store.next();
            failing.fail(new IllegalStateException("gone"));
            ClaimRequest other = request(newKey());
            var answered = rig.coalescer.claimAsync(List.of(other));
            rig.store.next().answer();

            assertThat(answered.get()).containsExactly(GatedStore.outcome(other));
            assertThat(claims).isNotDone();
            onItsWay.answer();
            assertThatThrownBy(claims::get)
                    .cause()
                    .isInstanceOf(ClaimStoreUnavailableException.class)
                    .hasMessageContaining("gone");
        }
    }

    @Test
    void callThatWaitsForTooLongIsRefusedThoughEachFlusherIsStuckAndNeverReachesTheStore() throws Exception {
        try (CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig(1, 256, Duration.ofMillis(50))) {
            var stuck = rig.coalescer.claimAsync(List.of(request(newKey())));
            Batch onItsWay = rig.store.next();
            var refused = rig.coalescer.claimAsync(List.of(request(newKey())));
            var refusedToo = rig.coalescer.endAsync(
                    List.of(new ClaimEnd.Completed(request(newKey()).id(), "1")));

            assertThatThrownBy(refused::get)
                    .cause()
                    .isInstanceOf(ClaimStoreBusyException.class)
                    .hasMessageContaining("busy for 50 ms");
            assertThatThrownBy(refusedToo::get).hasCauseInstanceOf(ClaimStoreBusyException.class);
            assertThat(stuck).isNotDone();
            onItsWay.answer();
            assertThat(stuck.get()).hasSize(1);
            assertThat(rig.store.entries()).hasSize(1);
        }
    }

    /** Its claims would be held for their leases, since a caller gives nothing up of a call that never reached the store. */
    @Test
    void callOfWhichAPartReachedTheStoreIsNotRefusedAsOneThatNeverDid() throws Exception {
        try (CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig(2, 256, Duration.ofMillis(50))) {
            ClaimRequest held = request(newKey());
            rig.coalescer.claimAsync(List.of(held));
            Batch stuck = rig.store.next();
            ClaimRequest free = request(newKey());
            ClaimEnd release = new ClaimEnd.Released(held.id(), "not wanted", false);
            var ended = rig.coalescer.endAsync(List.of(release, new ClaimEnd.Released(free.id(), "not wanted", false)));
            rig.store.next().answer();

            assertThatThrownBy(ended::get)
                    .cause()
                    .isInstanceOf(ClaimStoreUnavailableException.class)
                    .hasCauseInstanceOf(ClaimStoreBusyException.class);
            stuck.answer();
        }
    }

    @Test
    void onlyWhatHasWaitedUntilItsDeadlineIsRefused() {
        FakeClock clock = new FakeClock();
        ClaimQueue queue = new ClaimQueue(new CoalescingSettings(1, 256, Duration.ofSeconds(3)), clock);
        PendingCall<ClaimOutcome> overdue = PendingCall.of(request(newKey()), clock.nanoTime() + 10);
        PendingCall<ClaimOutcome> patient = PendingCall.of(request(newKey()), clock.nanoTime() + 11);
        queue.add(List.of(overdue, patient));

        clock.advance(Duration.ofNanos(9));
        assertThat(queue.withdrawOverdue()).isEmpty();
        clock.advance(Duration.ofNanos(1));
        assertThat(queue.withdrawOverdue()).isEqualTo(List.of(overdue));
        assertThat(queue.withdraw(entry -> true)).isEqualTo(List.of(patient));
    }

    @Test
    void patienceIsWatchedAgainAfterTheQueueWasEmpty() throws Exception {
        try (CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig(1, 256, Duration.ofMillis(50))) {
            for (int round = 0; round < 3; round++) {
                var onItsWay = rig.coalescer.claimAsync(List.of(request(newKey())));
                Batch batch = rig.store.next();
                var refused = rig.coalescer.claimAsync(List.of(request(newKey())));
                await().atMost(Duration.ofSeconds(10)).until(refused::isCompletedExceptionally);
                batch.answer();
                onItsWay.get();
            }
        }
    }

    @Test
    void endsThatAreLockedOrLostAreToldApart() throws Exception {
        try (CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig()) {
            ClaimRequest locked = request(newKey());
            ClaimRequest free = request(newKey());
            rig.store.lock(locked.id());
            var ended = rig.coalescer.endAsync(
                    List.of(new ClaimEnd.Completed(locked.id(), null), new ClaimEnd.Completed(free.id(), null)));
            rig.store.next().answer();

            assertThatThrownBy(ended::get)
                    .cause()
                    .isInstanceOfSatisfying(ClaimsPartlyAnsweredException.class, failure -> {
                        assertThat(failure.unanswered()).containsExactly(locked.id());
                        assertThat(failure.granted()).containsExactly(free.id());
                    });
        }
    }

    /** Another worker has taken the key over: the message of this claim must not be deleted. */
    @Test
    void endOfAClaimThatIsLostIsNotToldAsRecorded() throws Exception {
        try (CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig()) {
            ClaimRequest lost = request(newKey());
            ClaimRequest held = request(newKey());
            rig.store.lose(lost.id());
            var ended = rig.coalescer.endAsync(
                    List.of(new ClaimEnd.Completed(lost.id(), null), new ClaimEnd.Completed(held.id(), null)));
            rig.store.next().answer();

            assertThat(ended.get()).containsExactly(held.id());
        }
    }

    @Test
    void callAfterTheEndFailsAndThrowsNothing() {
        CoalescingClaimStoreRig rig = new CoalescingClaimStoreRig();
        rig.close();

        assertThatThrownBy(() ->
                        rig.coalescer.claimAsync(List.of(request(newKey()))).get())
                .hasCauseInstanceOf(ClaimStoreBusyException.class);
    }

    @Test
    void whatAnExecutorWaitsForIsAnsweredAsTheStoreAnswersIt() throws Exception {
        GatedStore gated = new GatedStore();
        gated.open();
        try (CoalescingClaimStore store =
                new CoalescingClaimStore(gated, new CoalescingSettings(1, 1, Duration.ofSeconds(1)), () -> 0)) {
            ExecutorClaimStore answering = new ExecutorClaimStore(store, Runnable::run);
            ClaimRequest claim = request(newKey());

            CompletableFuture<List<ClaimOutcome>> claimed = answering.claimAsync(List.of(claim));
            assertThat(claimed.get()).containsExactly(GatedStore.outcome(claim));
            assertThat(answering
                            .endAsync(List.of(new ClaimEnd.Completed(claim.id(), null)))
                            .get())
                    .containsExactly(claim.id());
            gated.onBatch(entries -> {
                throw new IllegalArgumentException("never");
            });
            assertThatThrownBy(() ->
                            answering.claimAsync(List.of(request(newKey()))).get())
                    .hasCauseInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void executorThatTakesNoMoreFailsTheCallAndThrowsNothing() {
        ExecutorClaimStore stopped = new ExecutorClaimStore(new GatedStore(), task -> {
            throw new RejectedExecutionException("shut down");
        });

        assertThatThrownBy(() -> stopped.claimAsync(List.of(request(newKey()))).get())
                .cause()
                .isInstanceOf(ClaimStoreBusyException.class)
                .hasMessageContaining("shut down");
    }
}
