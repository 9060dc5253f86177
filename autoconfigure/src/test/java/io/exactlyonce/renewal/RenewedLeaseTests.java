package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.renewal.RenewalState.Look;
import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A lease that must not be renewed beyond its ceiling. */
class RenewedLeaseTests {

    private static final Duration CEILING = Duration.ofMillis(300);

    private final RenewalRig rig = RenewalRig.renewing();
    private final FakeClock clock = rig.clock;
    private final RenewedLease lease = lease();

    private RenewedLease lease() {
        long now = clock.nanoTime();
        RenewalState state = new RenewalState(Duration.ofSeconds(30), now, new RenewalSchedule(0.5, 0, 3), 0);
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        return new RenewedLease(rig.supervisor, null, claim, state, now + CEILING.toNanos(), () -> {});
    }

    @Test
    void leaseIsLostAtItsCeilingAndOnce() {
        clock.advance(CEILING.minusNanos(1));
        assertThat(lease.look(clock.nanoTime())).isEqualTo(Look.NOTHING_TO_DO);

        clock.advance(Duration.ofNanos(1));
        assertThat(lease.look(clock.nanoTime())).isEqualTo(Look.LOST);
        assertThat(lease.look(clock.nanoTime())).isEqualTo(Look.NOTHING_TO_DO);
    }

    @Test
    void leaseThatWasStoppedIsNotLost() {
        lease.stop();

        clock.advance(CEILING);
        assertThat(lease.look(clock.nanoTime())).isEqualTo(Look.NOTHING_TO_DO);
    }
}
