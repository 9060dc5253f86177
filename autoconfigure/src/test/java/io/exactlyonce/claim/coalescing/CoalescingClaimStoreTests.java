package io.exactlyonce.claim.coalescing;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.Claims;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.claim.GatedStore.Batch;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.coalescing.CoalescingClaimStoreRig.Caller;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What goes together, in which order, and who gets which answer. */
class CoalescingClaimStoreTests {

    private final CoalescingClaimStoreRig rig;

    CoalescingClaimStoreTests() {
        this.rig = new CoalescingClaimStoreRig();
    }

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void looksGoStraightToTheStore() {
        ClaimKey key = new ClaimKey("orders", "1");

        assertThat(rig.coalescer.look(List.of(key))).containsEntry(key, KeyState.PARKED);
    }

    @Test
    void firstCallGoesAtOnceAndWhatComesMeanwhileGoesTogether() throws Exception {
        ClaimRequest first = request(newKey());
        List<ClaimRequest> later = requests(3);
        Caller<ClaimOutcome> one = rig.claim(first);
        Batch alone = rig.store.next();
        List<Caller<ClaimOutcome>> others = later.stream().map(rig::claim).toList();
        alone.answer();

        assertThat(one.answer().get()).isEqualTo(GatedStore.outcome(first));
        Batch together = rig.store.next();
        assertThat(together.entries()).isEqualTo(later);
        together.answer();
        for (int i = 0; i < later.size(); i++) {
            assertThat(others.get(i).answer().get()).isEqualTo(GatedStore.outcome(later.get(i)));
        }
    }

    @Test
    void completionsGoBeforeReleasesAndReleasesBeforeClaims() throws Exception {
        ClaimRequest claimed = request(newKey());
        ClaimRequest failed = request(newKey());
        ClaimRequest done = request(newKey());
        Batch busy = blockTheFlusher();
        rig.claim(claimed);
        rig.release(failed);
        rig.complete(done, "1");
        busy.answer();

        Batch next = rig.store.next();
        assertThat(next.entries().stream().map(Object::getClass).toList())
                .isEqualTo(List.of(ClaimEnd.Completed.class, ClaimEnd.Released.class, ClaimRequest.class));
        next.answer();
    }

    @Test
    void completionDoesNotWaitBehindMoreClaimsThanABatchHolds() throws Exception {
        try (CoalescingClaimStoreRig small = new CoalescingClaimStoreRig(1, 2, CoalescingClaimStoreRig.PATIENCE)) {
            small.claim(request(newKey()));
            Batch busy = small.store.next();
            requests(5).forEach(small::claim);
            ClaimRequest done = request(newKey());
            small.complete(done, "1");
            busy.answer();

            Batch next = small.store.next();
            assertThat(next.entries()).hasSize(2);
            assertThat(next.entries().get(0)).isEqualTo(new ClaimEnd.Completed(done.id(), "1"));
            next.answer();
        }
    }

    @Test
    void renewalDoesNotWaitForClaims() throws Exception {
        ClaimRequest running = request(newKey());
        Batch stuck = blockTheFlusher();

        Caller<Boolean> renewal = rig.renew(running);
        Batch renewing = rig.store.next();
        renewing.answer();

        assertThat(renewal.answer().get()).isTrue();
        assertThat(stuck.gate()).isEmpty();
        stuck.answer();
    }

    @Test
    void releaseCannotOvertakeItsClaimThatIsOnItsWay() throws Exception {
        try (CoalescingClaimStoreRig two = new CoalescingClaimStoreRig(2, 1, CoalescingClaimStoreRig.PATIENCE)) {
            ClaimRequest claim = request(newKey());
            two.claim(claim);
            Batch claiming = two.store.next();

            Caller<Boolean> release = two.release(claim);
            ClaimRequest other = request(newKey());
            two.claim(other);
            Batch overtaking = two.store.next();
            assertThat(overtaking.entries()).isEqualTo(List.of(other));
            claiming.answer();

            Batch releasing = two.store.next();
            assertThat(releasing.entries()).isEqualTo(List.of(new ClaimEnd.Released(claim.id(), "failed", false)));
            releasing.answer();
            overtaking.answer();
            assertThat(release.answer().get()).isTrue();
        }
    }

    @Test
    void claimThatWasInterruptedOnItsWayIsAnsweredAllTheSame() throws Exception {
        ClaimRequest claim = request(newKey());
        List<Boolean> interrupted = new ArrayList<>();
        Caller<ClaimOutcome> caller = CoalescingClaimStoreRig.call(() -> {
            ClaimOutcome outcome = rig.coalescer.claim(List.of(claim)).get(0);
            interrupted.add(Thread.currentThread().isInterrupted());
            return outcome;
        });
        Batch claiming = rig.store.next();

        caller.thread().interrupt();
        claiming.answer();

        assertThat(caller.answer().get()).isEqualTo(GatedStore.outcome(claim));
        assertThat(interrupted).containsExactly(true);
    }

    @Test
    void threadThatWasInterruptedStillReleasesItsClaim() throws Exception {
        ClaimRequest claim = request(newKey());
        Caller<Boolean> caller = CoalescingClaimStoreRig.call(() -> {
            Thread.currentThread().interrupt();
            return Claims.release(rig.coalescer, claim)
                    && Thread.currentThread().isInterrupted();
        });

        rig.store.next().answer();

        assertThat(caller.answer().get()).isTrue();
    }

    @Test
    void twoEndsOfOneClaimGoOneAfterTheOther() throws Exception {
        ClaimRequest claim = request(newKey());
        Batch busy = blockTheFlusher();
        Caller<Boolean> release = rig.release(claim);
        Caller<Boolean> completion = rig.complete(claim, "1");
        busy.answer();

        Batch first = rig.store.next();
        assertThat(first.entries()).isEqualTo(List.of(new ClaimEnd.Completed(claim.id(), "1")));
        first.answer();
        Batch second = rig.store.next();
        assertThat(second.entries()).isEqualTo(List.of(new ClaimEnd.Released(claim.id(), "failed", false)));
        second.answer();
        assertThat(completion.answer().get()).isTrue();
        assertThat(release.answer().get()).isTrue();
    }

    @Test
    void claimsOfOneKeyGoTogetherButNotWithItsCompletion() throws Exception {
        ClaimRequest holder = request(newKey());
        ClaimRequest second = request(holder.key());
        ClaimRequest third = request(holder.key());
        Batch busy = blockTheFlusher();
        rig.claim(second);
        rig.claim(third);
        rig.complete(holder, "1");
        busy.answer();

        Batch completing = rig.store.next();
        assertThat(completing.entries()).isEqualTo(List.of(new ClaimEnd.Completed(holder.id(), "1")));
        completing.answer();
        Batch claiming = rig.store.next();
        assertThat(claiming.entries()).isEqualTo(List.of(second, third));
        claiming.answer();
    }

    @Test
    void callWithMoreEntriesThanABatchIsAnsweredInItsOrder() {
        try (CoalescingClaimStoreRig small = new CoalescingClaimStoreRig(2, 7, CoalescingClaimStoreRig.PATIENCE)) {
            small.store.open();
            List<ClaimRequest> requests = requests(100);

            assertThat(small.coalescer.claim(requests))
                    .isEqualTo(requests.stream().map(GatedStore::outcome).toList());
        }
    }

    @Test
    void largeResultsAreSpreadOverBatches() throws Exception {
        Batch busy = blockTheFlusher();
        String large = "x".repeat(3_000_000);
        rig.complete(request(newKey()), large);
        rig.complete(request(newKey()), large);
        busy.answer();

        for (int i = 0; i < 2; i++) {
            Batch one = rig.store.next();
            assertThat(one.entries()).hasSize(1);
            one.answer();
        }
    }

    @Test
    void emptyCallAsksNoStore() {
        assertThat(rig.coalescer.renew(List.of())).isEmpty();
        assertThat(rig.store.entries()).isEmpty();
    }

    private Batch blockTheFlusher() throws InterruptedException {
        rig.claim(request(newKey()));
        return rig.store.next();
    }

    private static List<ClaimRequest> requests(int count) {
        return Stream.generate(() -> request(newKey())).limit(count).toList();
    }
}
