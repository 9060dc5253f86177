package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A lease that must not be renewed beyond its ceiling. */
class RenewedLeaseTests {

    private static final Duration CEILING = Duration.ofMillis(300);

    private final FakeClock clock = new FakeClock();
    private final DueSet<RenewedLease> leases = new DueSet<>(RenewedLease::announce, clock.nanoTime());
    private final RenewedLease lease = lease();

    private RenewedLease lease() {
        long now = clock.nanoTime();
        RenewalState span =
                new RenewalState(Duration.ofSeconds(30), now, new RenewalSchedule(0.5, 0, 3), 0, leases.next());
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        return new RenewedLease(null, claim, span, now + CEILING.toNanos(), () -> {});
    }

    @Test
    void ceilingIsLookedAtInTimeAndOnce() {
        leases.add(lease);
        leases.looked(clock.nanoTime());

        clock.advance(CEILING.minusNanos(1));
        assertThat(leases.isDue(clock.nanoTime())).isFalse();

        clock.advance(Duration.ofNanos(1));
        assertThat(leases.isDue(clock.nanoTime())).isTrue();
        assertThat(lease.loseIfInDoubt(clock.nanoTime())).isTrue();
        leases.looked(clock.nanoTime());
        assertThat(leases.isDue(clock.nanoTime())).isFalse();
    }

    @Test
    void leaseThatWasStoppedNeedsNoLook() {
        leases.add(lease);
        lease.stop();
        leases.looked(clock.nanoTime());

        clock.advance(CEILING);
        assertThat(leases.isDue(clock.nanoTime())).isFalse();
    }
}
