package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What callers are told when the store does not answer. */
class ClaimWriterTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final ClaimWriter writer = rig.writer();

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

    /** Trap: no failure can be suppressed in itself, and what says so was taken for a key that can never be stored. */
    @Test
    void claimFailsWithAnExceptionWithWhichItsReleaseFailsToo() {
        IllegalStateException closed = new IllegalStateException("closed (simulated), and made once");
        AsyncClaimStore ended = new AsyncClaimStore() {
            @Override
            public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
                return CompletableFuture.failedFuture(closed);
            }

            @Override
            public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
                return CompletableFuture.failedFuture(closed);
            }
        };
        ClaimRequest request = new ClaimRequest(DeliveryRig.KEY, UUID.randomUUID(), "worker", Duration.ofSeconds(20));

        CompletableFuture<List<ClaimOutcome>> claimed =
                new ClaimWriter(rig.store, ended, rig.timer).claim(List.of(request));

        assertThatThrownBy(() -> ClaimWriter.await(claimed)).isSameAs(closed);
    }

    @Test
    void interruptEndsAPauseAndStays() {
        rig.timer.hold();
        Thread.currentThread().interrupt();

        assertThat(writer.awaitPause(Duration.ofSeconds(1))).isFalse();

        assertThat(Thread.interrupted()).isTrue();
    }
}
