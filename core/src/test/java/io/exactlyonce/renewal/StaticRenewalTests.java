package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.renewal.RenewalEvent.Result;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Listeners without renewal. Nothing extends the visibility timeout or the lease. */
class StaticRenewalTests {

    private final RenewalRig rig = new RenewalRig(new RenewalSchedule(false, 0.5, 0)).limiting(Duration.ofMinutes(1));

    @Test
    void neitherVisibilityTimeoutNorLeaseIsRenewedNorDoesTheEndOfTheHandlerBeginThat() {
        MessageVisibility visibility = rig.hold(30);
        rig.limit(visibility);

        rig.tickFor(Duration.ofSeconds(5));
        visibility.completing();
        rig.tickFor(Duration.ofMinutes(5));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.store.renewals()).isEmpty();
    }

    @Test
    void handlerIsInterruptedOnceWhenItsLeaseIsAboutToEnd() {
        MessageVisibility visibility = rig.hold(30);

        rig.tickFor(Duration.ofMillis(28_900));
        assertThat(rig.timesLost).hasValue(0);
        assertThat(visibility.isHeld()).isTrue();

        rig.tickFor(Duration.ofMillis(100));
        assertThat(rig.timesLost).hasValue(1);
        assertThat(visibility.isHeld()).isFalse();
        rig.tickFor(Duration.ofMinutes(1));
        assertThat(rig.leaseResults).containsExactly(Result.LOST);
        assertThat(rig.timesLost).hasValue(1);
    }

    @Test
    void lastMomentOfAShortLeaseIsShort() {
        MessageVisibility visibility = rig.hold(2);

        rig.tickFor(Duration.ofMillis(1_800));
        assertThat(visibility.isHeld()).isTrue();
        rig.tickFor(Duration.ofMillis(100));
        assertThat(visibility.isHeld()).isFalse();
    }
}
