package io.exactlyonce.claim.groupcommit;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.claim.GatedStore.Batch;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What goes together, in which order, and who gets which answer. */
class GroupCommitClaimStoreTests {

    private final GroupCommitRig rig = new GroupCommitRig();

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void callsThatComeMeanwhileGoTogetherAndEachHasItsOwnOutcomesInOrder() throws Exception {
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

    @Test
    void endsGoBeforeClaimsInTheOrderInWhichTheyCame() throws Exception {
        Batch busy = rig.block();
        rig.claim(request(newKey()));
        rig.release(request(newKey()));
        rig.complete(request(newKey()), "1");
        busy.answer();

        Batch next = rig.store.next();
        assertThat(next.entries().stream().map(Object::getClass).toList())
                .isEqualTo(List.of(ClaimEnd.Released.class, ClaimEnd.Completed.class, ClaimRequest.class));
        next.answer();
    }

    @Test
    void completionDoesNotWaitBehindMoreClaimsThanABatchHolds() throws Exception {
        try (GroupCommitRig small = new GroupCommitRig(1, 2, GroupCommitRig.PATIENCE)) {
            Batch busy = small.block();
            Stream.generate(() -> request(newKey())).limit(5).forEach(small::claim);
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
    void endThatFollowsTheAnswerOfItsClaimFindsItsKeyFreeAtOnce() throws Exception {
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

    /** Another worker has taken the key over: the message of this claim must not be deleted. */
    @Test
    void endOfAClaimThatIsLostIsNotToldAsRecorded() throws Exception {
        ClaimRequest lost = request(newKey());
        ClaimRequest held = request(newKey());
        rig.store.lose(lost.id());
        var ended = rig.front.endAsync(
                List.of(new ClaimEnd.Completed(lost.id(), null), new ClaimEnd.Completed(held.id(), null)), true);
        rig.store.next().answer();

        assertThat(ended.get()).containsExactly(held.id());
    }
}
