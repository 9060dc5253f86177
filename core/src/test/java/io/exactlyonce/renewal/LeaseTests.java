package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A lease without a message. The lease ends after 12 h, even if its owner still works. */
class LeaseTests {

    private static final Duration LENGTH = Duration.ofHours(1);
    private static final Duration CEILING = Duration.ofHours(12);

    private final RenewalRig rig = RenewalRig.renewing();
    private final Lease lease = rig.renewer.renewLease(
            new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID()),
            LENGTH,
            rig.clock.nanoTime(),
            rig.timesLost::incrementAndGet);

    private void tickFor(Duration duration) {
        for (long second = 0; second < duration.toSeconds(); second++) {
            rig.advance(Duration.ofSeconds(1));
        }
    }

    @Test
    void leaseIsLostAtItsCeilingAndOnceAndNoListenerIsNotified() {
        tickFor(CEILING.minusSeconds(1));
        assertThat(rig.timesLost).hasValue(0);
        assertThat(lease.isHeld()).isTrue();

        tickFor(LENGTH);
        assertThat(rig.timesLost).hasValue(1);
        assertThat(lease.isHeld()).isFalse();
        assertThat(rig.store.renewals()).hasSizeBetween(23, 24);
        assertThat(rig.leaseResults).isEmpty();
    }

    @Test
    void leaseThatWasStoppedIsNotLost() {
        lease.stopRenewal();

        tickFor(CEILING);

        assertThat(rig.timesLost).hasValue(0);
        assertThat(rig.store.renewals()).isEmpty();
    }
}
