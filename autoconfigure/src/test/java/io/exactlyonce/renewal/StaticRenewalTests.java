package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.visibility.QueueVisibility;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Nothing is renewed. */
class StaticRenewalTests {

    private final RenewalRig rig = new RenewalRig(new RenewalSchedule(false, 0.5, 0, 3));

    @Test
    void neitherWindowNorLeaseIsRenewed() {
        Renewal renewal = rig.hold(30);

        rig.tickFor(Duration.ofMinutes(5));
        renewal.completing();
        rig.tickFor(Duration.ofMinutes(5));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.store.renewals()).isEmpty();
    }

    @Test
    void endOfAHandlerBeginsNoRenewal() {
        Renewal renewal = rig.hold(30);
        rig.limit(renewal, Duration.ofMinutes(1));
        rig.tickFor(Duration.ofSeconds(5));

        renewal.completing();
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.store.renewals()).isEmpty();
    }

    @Test
    void handlerIsToldOnceWhenItsLeaseIsAboutToEnd() {
        Renewal renewal = rig.hold(30);

        rig.tickFor(Duration.ofMillis(28_900));
        assertThat(rig.timesLost).hasValue(0);
        assertThat(renewal.isHeld()).isTrue();

        rig.tickFor(Duration.ofMillis(100));
        assertThat(rig.timesLost).hasValue(1);
        assertThat(renewal.isHeld()).isFalse();
        rig.tickFor(Duration.ofMinutes(1));
        assertThat(rig.timesLost).hasValue(1);
        assertThat(rig.leaseResults).containsExactly(Result.LOST);
    }

    @Test
    void lastMomentOfAShortLeaseIsShort() {
        Renewal renewal = rig.hold(2);

        rig.tickFor(Duration.ofMillis(1_800));
        assertThat(renewal.isHeld()).isTrue();
        rig.tickFor(Duration.ofMillis(100));
        assertThat(renewal.isHeld()).isFalse();
    }

    @Test
    void handlerInTimeIsNotTold() {
        Renewal renewal = rig.hold(30);
        rig.tickFor(Duration.ofSeconds(20));

        renewal.stop();
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.timesLost).hasValue(0);
        assertThat(rig.windowResults).isEmpty();
    }

    @Test
    void failedDeliveryIsReturnedWithinItsWindow() {
        Renewal renewal = rig.hold(30);
        rig.tickFor(Duration.ofSeconds(20));

        renewal.returnAfter(Duration.ofSeconds(4));

        assertThat(rig.queue.changes()).containsExactly(new QueueVisibility.Change("handle", 4));
    }

    @Test
    void timeoutEndsTheHandlerBeforeItsLease() {
        Renewal renewal = rig.hold(30);
        rig.limit(renewal, Duration.ofSeconds(5));

        rig.tickFor(Duration.ofSeconds(5));

        assertThat(rig.timesTimedOut).hasValue(1);
        assertThat(renewal.isHeld()).isTrue();
    }
}
