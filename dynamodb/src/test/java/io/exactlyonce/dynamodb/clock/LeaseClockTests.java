package io.exactlyonce.dynamodb.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.exactlyonce.dynamodb.testing.FakeClock;
import io.exactlyonce.dynamodb.testing.FakeService;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Each rule that decides whether a lease has expired. */
class LeaseClockTests {

    private static final Duration ERROR = Duration.ofSeconds(2);
    private static final Duration ROUND_TRIP = Duration.ofMillis(20);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long LEASE_MICROS = LEASE.toNanos() / 1000;

    private final FakeClock clock = new FakeClock();
    private final ServiceClock measured = new ServiceClock(clock, ERROR);
    private final FakeService service = new FakeService(clock, measured);
    private final LeaseClock leases = new LeaseClock(measured, ClockMode.SERVICE, ERROR, clock);
    private final LeaseClock observer = new LeaseClock(measured, ClockMode.OBSERVED, ERROR, clock);

    @Test
    void leaseEndsNotBeforeItsOwnerCountsItOver() {
        service.answer(ROUND_TRIP);

        assertThat(leases.end(LEASE).orElseThrow()).isGreaterThanOrEqualTo(service.micros() + LEASE_MICROS);
    }

    @Test
    void leaseIsOverOnlyWhenTheEarliestTimeIsPastItsEndAndTheError() {
        service.answer(ROUND_TRIP);
        OptionalLong end = leases.end(LEASE);

        pass(LEASE.plus(ERROR).minusSeconds(1));
        assertThat(leases.remainingMicros("1", "a", end, LEASE_MICROS)).isPositive();

        pass(Duration.ofSeconds(4));
        assertThat(leases.remainingMicros("1", "a", end, LEASE_MICROS)).isNotPositive();
    }

    @Test
    void noMoreThanTheLeaseIsReturned() {
        service.answer(ROUND_TRIP);

        assertThat(leases.remainingMicros("1", "a", leases.end(LEASE), LEASE_MICROS))
                .isEqualTo(LEASE_MICROS);
    }

    @Test
    void withoutAnyTimeALeaseHasNoEnd() {
        assertThat(leases.end(LEASE)).isEmpty();
    }

    @Test
    void withoutAnyTimeAnUnchangedClaimIsOverAfterAWholeLease() {
        OptionalLong end = OptionalLong.of(1);
        assertThat(leases.remainingMicros("1", "a", end, LEASE_MICROS)).isEqualTo(LEASE_MICROS);

        clock.advance(LEASE);
        assertThat(leases.remainingMicros("1", "a", end, LEASE_MICROS)).isPositive();

        clock.advance(Duration.ofMillis(100));
        assertThat(leases.remainingMicros("1", "a", end, LEASE_MICROS)).isNotPositive();
    }

    @Test
    void renewedClaimIsObservedAnew() {
        leases.remainingMicros("1", "a", OptionalLong.empty(), LEASE_MICROS);
        clock.advance(LEASE);

        assertThat(leases.remainingMicros("1", "b", OptionalLong.empty(), LEASE_MICROS))
                .isEqualTo(LEASE_MICROS);
        clock.advance(LEASE);
        assertThat(leases.remainingMicros("1", "b", OptionalLong.empty(), LEASE_MICROS))
                .isPositive();
        assertThat(leases.remainingMicros("2", "b", OptionalLong.empty(), LEASE_MICROS))
                .isEqualTo(LEASE_MICROS);
    }

    /** The last answer is an hour old. Such an old answer must not decide that the lease has ended. */
    @Test
    void staleTimeDecidesNothing() {
        service.answer(ROUND_TRIP);
        OptionalLong end = leases.end(Duration.ofMillis(100));
        clock.advance(Duration.ofHours(1));

        assertThat(leases.remainingMicros("1", "a", end, LEASE_MICROS)).isEqualTo(LEASE_MICROS);
    }

    @Test
    void contradictoryTimeDecidesNothing() {
        service.answer(ROUND_TRIP);
        OptionalLong end = leases.end(Duration.ofMillis(100));
        service.shift(Duration.ofHours(1));
        service.answer(ROUND_TRIP);

        assertThat(leases.remainingMicros("1", "a", end, LEASE_MICROS)).isEqualTo(LEASE_MICROS);
        assertThat(leases.end(LEASE)).isEmpty();
        assertThat(leases.isContradicted()).isTrue();
        assertThat(observer.isContradicted()).isFalse();
    }

    @Test
    void observerTakesNoTimeFromTheService() {
        service.answer(ROUND_TRIP);

        assertThat(observer.end(LEASE)).isEmpty();
        assertThat(observer.remainingMicros("1", "a", OptionalLong.of(1), LEASE_MICROS))
                .isEqualTo(LEASE_MICROS);
        assertThat(observer.estimateMicros().orElseThrow()).isCloseTo(service.micros(), within(2_000_000L));
    }

    @Test
    void forgottenClaimIsObservedAnew() {
        observer.remainingMicros("1", "a", OptionalLong.empty(), LEASE_MICROS);
        clock.advance(LEASE);

        for (int i = 0; i < Observations.MOST; i++) {
            observer.remainingMicros("other " + i, "a", OptionalLong.empty(), LEASE_MICROS);
        }

        assertThat(observer.remainingMicros("1", "a", OptionalLong.empty(), LEASE_MICROS))
                .isEqualTo(LEASE_MICROS);
    }

    /** Lets time pass while the service answers ten times a second. */
    private void pass(Duration time) {
        for (long passed = 0; passed < time.toMillis(); passed += 100) {
            clock.advance(Duration.ofMillis(80));
            service.answer(ROUND_TRIP);
        }
    }
}
