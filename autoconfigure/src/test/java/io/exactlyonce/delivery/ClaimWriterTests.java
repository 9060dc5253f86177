package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreBusyException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What callers are told when the store does not answer. */
class ClaimWriterTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final ClaimWriter writer = rig.writer();
    private CompletableFuture<List<ClaimOutcome>> claimed = new CompletableFuture<>();

    /** A parking ends what has failed already: it must not hide why. */
    @Test
    void parkingWithoutAnAnswerParksNothingAndIsNoFailureOfItsCaller() {
        for (int call = 0; call < 3; call++) {
            rig.store.onPark(claims -> {
                throw new IllegalStateException("connection refused");
            });
        }

        ClaimId claim = new ClaimId(DeliveryRig.KEY, UUID.randomUUID());

        assertThat(writer.park(List.of(new ClaimEnd.Parked(claim, "the card has expired", false))))
                .isCompletedWithValue(Set.of());
    }

    @Test
    void storesOwnFailureReachesTheCallerThatWaits() {
        rig.store.failClaims(true);
        ClaimRequest request = new ClaimRequest(
                DeliveryRig.KEY,
                UUID.randomUUID(),
                "worker",
                Duration.ofSeconds(20),
                ClaimRequest.InDoubt.TAKE_OVER,
                null);

        assertThatThrownBy(() -> ClaimWriter.await(writer.claim(List.of(request))))
                .isExactlyInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no space left on device");
    }

    private List<ClaimEnd> ended(RuntimeException... failures) {
        Deque<RuntimeException> next = new ArrayDeque<>(List.of(failures));
        List<ClaimEnd> ended = new ArrayList<>();
        AsyncClaimStore busy = new AsyncClaimStore() {
            @Override
            public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
                return CompletableFuture.failedFuture(next.remove());
            }

            @Override
            public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
                ended.addAll(ends);
                return new CompletableFuture<>();
            }
        };
        ClaimRequest request = new ClaimRequest(DeliveryRig.KEY, UUID.randomUUID(), "worker", Duration.ofSeconds(20));
        claimed = new ClaimWriter(rig.store, busy, rig.timer).claim(List.of(request));
        return ended;
    }

    /** Under overload a release more for each claim that was refused, and 3 s for that to be refused, too. */
    @Test
    void claimThatNeverReachedTheStoreGivesNothingUpAndFailsAtOnce() {
        ClaimStoreBusyException busy = new ClaimStoreBusyException("busy for 3000 ms");

        assertThat(ended(busy, busy, busy)).isEmpty();

        assertThat(claimed).isCompletedExceptionally();
        assertThatThrownBy(() -> ClaimWriter.await(claimed)).isSameAs(busy);
    }

    @Test
    void claimThatReachedTheStoreOnceIsGivenUpAlthoughItsRepeatsDidNot() {
        ClaimStoreBusyException busy = new ClaimStoreBusyException("busy for 3000 ms");

        assertThat(ended(busy, new IllegalStateException("connection reset"), busy))
                .hasSize(1);

        assertThat(claimed).as("before its release is answered").isNotDone();
    }

    @Test
    void interruptEndsAPauseAndStays() {
        rig.timer.hold();
        Thread.currentThread().interrupt();

        assertThat(writer.awaitPause(Duration.ofSeconds(1))).isFalse();

        assertThat(Thread.interrupted()).isTrue();
    }
}
