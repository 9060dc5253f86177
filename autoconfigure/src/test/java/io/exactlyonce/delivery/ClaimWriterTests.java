package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimRequest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
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

    @Test
    void interruptEndsAPauseAndStays() {
        rig.timer.hold();
        Thread.currentThread().interrupt();

        assertThat(writer.awaitPause(Duration.ofSeconds(1))).isFalse();

        assertThat(Thread.interrupted()).isTrue();
    }
}
