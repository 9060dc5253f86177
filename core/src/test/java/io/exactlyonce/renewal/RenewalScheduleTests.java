package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RenewalScheduleTests {

    private static final double ALMOST_ONE = Math.nextDown(1.0);

    private final RenewalSchedule schedule = new RenewalSchedule(0.5, 0.1);

    @Test
    void renewalIsDueAtHalfTheVisibilityTimeoutAndEarlierByJitter() {
        Duration timeout = Duration.ofSeconds(30);

        assertThat(schedule.interval(timeout, 0)).isEqualTo(Duration.ofSeconds(15));
        assertThat(schedule.interval(timeout, 0.5)).isEqualTo(Duration.ofMillis(14_250));
        assertThat(schedule.interval(timeout, ALMOST_ONE))
                .isBetween(Duration.ofMillis(13_500), Duration.ofMillis(13_501));
    }

    @ParameterizedTest
    @CsvSource({"43200, 0.1, 0.5", "5, 0.1, 0.5", "2, 0.5, 0.1"})
    void noIntervalIsShorterThanASecond(long timeout, double at, double jitter) {
        Duration interval = new RenewalSchedule(at, jitter).interval(Duration.ofSeconds(timeout), ALMOST_ONE);

        assertThat(interval).isGreaterThanOrEqualTo(Duration.ofSeconds(1)).isLessThan(Duration.ofSeconds(timeout));
    }

    @ParameterizedTest
    @ValueSource(longs = {100, 1_000, 1_999})
    void visibilityTimeoutsUnderTwoSecondsAreRenewedAtHalf(long millis) {
        Duration timeout = Duration.ofMillis(millis);

        assertThat(schedule.interval(timeout, ALMOST_ONE)).isEqualTo(timeout.dividedBy(2));
    }

    /** The jitter spreads the repeats of renewals that fail together. No repeat comes later than planned. */
    @Test
    void retryFollowsAfterAThirdOfWhatIsLeftAndEarlierByJitter() {
        assertThat(schedule.retryAfter(Duration.ofSeconds(15), 0)).isEqualTo(Duration.ofSeconds(5));
        assertThat(schedule.retryAfter(Duration.ofSeconds(10), 0.5)).isEqualTo(Duration.ofNanos(3_166_666_666L));
        assertThat(schedule.retryAfter(Duration.ofSeconds(15), ALMOST_ONE))
                .isBetween(Duration.ofMillis(4_500), Duration.ofMillis(4_501));
    }

    /** Trap: if all retries come early, a short outage after the last retry costs the lease. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.5, 0.999})
    void retriesGetDenserUntilTheEnd(double random) {
        Duration left = Duration.ofSeconds(15);
        Duration before = left;
        int retries = 0;
        while (left.compareTo(Duration.ofSeconds(1)) > 0) {
            Duration pause = schedule.retryAfter(left, random);
            assertThat(pause).isLessThan(before);
            before = pause;
            left = left.minus(pause);
            retries++;
        }

        assertThat(retries).isBetween(7, 8);
        assertThat(left).isGreaterThan(Duration.ofMillis(600));
    }

    @ParameterizedTest
    @ValueSource(longs = {-5_000, 0, 1, 299})
    void retryWaitsForATenthOfASecondAtLeast(long millisLeft) {
        assertThat(schedule.retryAfter(Duration.ofMillis(millisLeft), 0.5)).isEqualTo(Duration.ofMillis(100));
    }

    @ParameterizedTest
    @CsvSource({
        "at, 0.09, 0.1",
        "at, 0.81, 0.1",
        "jitter, 0.5, -0.01",
        "jitter, 0.5, NaN",
    })
    void valueOutOfBoundsIsRefusedByName(String name, double at, double jitter) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RenewalSchedule(at, jitter))
                .withMessageStartingWith(name + " (")
                .withMessageContaining(" must be from ");
    }
}
