package io.exactlyonce.claim.groupcommit;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.Claims;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.claim.GatedStore.Batch;
import io.exactlyonce.claim.Threads;
import io.exactlyonce.claim.groupcommit.GroupCommitRig.Caller;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What goes together, in which order, and who gets which answer. */
class GroupCommitClaimStoreTests {

    private final GroupCommitRig rig;

    GroupCommitClaimStoreTests() {
        this.rig = new GroupCommitRig();
    }

    @AfterEach
    void close() {
        rig.close();
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
    void endsGoBeforeClaimsInTheOrderInWhichTheyCame() throws Exception {
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
                .isEqualTo(List.of(ClaimEnd.Released.class, ClaimEnd.Completed.class, ClaimRequest.class));
        next.answer();
    }

    @Test
    void completionDoesNotWaitBehindMoreClaimsThanABatchHolds() throws Exception {
        try (GroupCommitRig small = new GroupCommitRig(1, 2, GroupCommitRig.PATIENCE)) {
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
    void releaseCannotOvertakeItsClaimThatIsOnItsWay() throws Exception {
        try (GroupCommitRig two = new GroupCommitRig(2, 1, GroupCommitRig.PATIENCE)) {
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
    void twoEndsOfOneClaimGoOneAfterTheOther() throws Exception {
        ClaimRequest claim = request(newKey());
        Batch busy = blockTheFlusher();
        Caller<Boolean> release = rig.release(claim);
        Caller<Boolean> completion = rig.complete(claim, "1");
        busy.answer();

        Batch first = rig.store.next();
        assertThat(first.entries()).isEqualTo(List.of(new ClaimEnd.Released(claim.id(), "failed", false)));
        first.answer();
        Batch second = rig.store.next();
        assertThat(second.entries()).isEqualTo(List.of(new ClaimEnd.Completed(claim.id(), "1")));
        second.answer();
        assertThat(completion.answer().get()).isTrue();
        assertThat(release.answer().get()).isTrue();
    }

    /** Two flushers that wrote one row at a time would wait for each other, and a release could be faster than its claim. */
    @Test
    void flushersNeverAskForOneKeyAtATime() throws Exception {
        Set<ClaimKey> onTheirWay = ConcurrentHashMap.newKeySet();
        List<ClaimKey> together = new CopyOnWriteArrayList<>();
        List<ClaimKey> keys = List.of(newKey(), newKey(), newKey());
        try (GroupCommitRig four = new GroupCommitRig(4, 4, GroupCommitRig.PATIENCE)) {
            four.store.open();
            four.store.onBatch(entries -> {
                Set<ClaimKey> claimed = new HashSet<>();
                Set<ClaimKey> all = new HashSet<>();
                for (Object entry : entries) {
                    if (entry instanceof ClaimRequest claim) {
                        claimed.add(claim.key());
                    } else if (!all.add(((ClaimEnd) entry).claim().key())) {
                        together.add(((ClaimEnd) entry).claim().key());
                    }
                }
                claimed.stream().filter(key -> !all.add(key)).forEach(together::add);
                all.stream().filter(key -> !onTheirWay.add(key)).forEach(together::add);
                Thread.yield();
                onTheirWay.removeAll(all);
            });

            Threads.run(4, () -> {
                for (int i = 0; i < 500; i++) {
                    List<ClaimRequest> claims =
                            keys.stream().map(Claims::request).toList();
                    four.front.claimAsync(claims).join();
                    List<ClaimEnd> ends = List.of(
                            new ClaimEnd.Completed(claims.get(0).id(), "1"),
                            new ClaimEnd.Released(claims.get(1).id(), "failed", false),
                            new ClaimEnd.Parked(claims.get(2).id(), "told to", false));
                    four.front.endAsync(ends, true).join();
                }
            });

            assertThat(together).isEmpty();
            assertThat(four.store.entries()).hasSize(4 * 500 * 6);
        }
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
    void callWithMoreEntriesThanABatchGoesUndividedAndIsAnsweredInItsOrder() throws Exception {
        try (GroupCommitRig small = new GroupCommitRig(2, 7, GroupCommitRig.PATIENCE)) {
            List<ClaimRequest> requests = requests(100);
            var claimed = small.front.claimAsync(requests);

            Batch batch = small.store.next();
            assertThat(batch.entries()).isEqualTo(requests);
            batch.answer();
            assertThat(claimed.get())
                    .isEqualTo(requests.stream().map(GatedStore::outcome).toList());
        }
    }

    /** A release that its caller sends after the answer must not be overtaken by the claim. */
    @Test
    void callIsAnsweredOnlyWhenNothingOfItIsOnItsWayAnyMore() throws Exception {
        try (GroupCommitRig two = new GroupCommitRig(2, 256, GroupCommitRig.PATIENCE)) {
            ClaimRequest held = request(newKey());
            two.front.claimAsync(List.of(held));
            Batch onItsWay = two.store.next();
            ClaimRequest free = request(newKey());
            ClaimRequest again = request(held.key());
            var claims = two.front.claimAsync(List.of(free, again));
            ClaimRequest other = request(newKey());
            var answered = two.front.claimAsync(List.of(other));
            two.store.next().answer();

            assertThat(answered.get()).containsExactly(GatedStore.outcome(other));
            assertThat(claims).isNotDone();
            onItsWay.answer();
            two.store.next().fail(new IllegalStateException("gone"));
            assertThatThrownBy(claims::get)
                    .cause()
                    .isInstanceOf(ClaimStoreUnavailableException.class)
                    .hasMessageContaining("gone");
            assertThat(two.store.entries()).containsExactly(held, other, free, again);
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
    void callsThatComeMeanwhileGoTogetherAndEachHasItsOwnOutcomesInOrder() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig()) {
            var first = rig.front.claimAsync(List.of(request(newKey())));
            Batch alone = rig.store.next();
            ClaimRequest one = request(newKey());
            ClaimRequest another = request(newKey());
            ClaimRequest last = request(newKey());
            var two = rig.front.claimAsync(List.of(one, another));
            var three = rig.front.claimAsync(List.of(last));
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
        try (GroupCommitRig rig = new GroupCommitRig()) {
            ClaimRequest claim = request(newKey());
            ClaimEnd release = new ClaimEnd.Released(claim.id(), "not wanted", false);
            CompletableFuture<Set<ClaimId>> released = rig.front
                    .claimAsync(List.of(claim))
                    .thenCompose(outcomes -> rig.front.endAsync(List.of(release), true));
            rig.store.next().answer();

            Batch releasing = rig.store.next();
            assertThat(releasing.entries()).isEqualTo(List.of(release));
            releasing.answer();
            assertThat(released.get()).containsExactly(claim.id());
        }
    }

    @Test
    void endsThatAreLockedOrLostAreToldApart() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig()) {
            ClaimRequest locked = request(newKey());
            ClaimRequest free = request(newKey());
            rig.store.lock(locked.id());
            var ended = rig.front.endAsync(
                    List.of(new ClaimEnd.Completed(locked.id(), null), new ClaimEnd.Completed(free.id(), null)), true);
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
        try (GroupCommitRig rig = new GroupCommitRig()) {
            ClaimRequest lost = request(newKey());
            ClaimRequest held = request(newKey());
            rig.store.lose(lost.id());
            var ended = rig.front.endAsync(
                    List.of(new ClaimEnd.Completed(lost.id(), null), new ClaimEnd.Completed(held.id(), null)), true);
            rig.store.next().answer();

            assertThat(ended.get()).containsExactly(held.id());
        }
    }

    private Batch blockTheFlusher() throws InterruptedException {
        rig.claim(request(newKey()));
        return rig.store.next();
    }

    private static List<ClaimRequest> requests(int count) {
        return Stream.generate(() -> request(newKey())).limit(count).toList();
    }
}
