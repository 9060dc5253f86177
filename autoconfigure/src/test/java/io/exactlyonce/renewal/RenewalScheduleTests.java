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

    private final RenewalSchedule schedule = new RenewalSchedule(0.5, 0.1, 3);

    @Test
    void renewalIsDueAtHalfTheWindow() {
        assertThat(schedule.interval(Duration.ofSeconds(30), 0)).isEqualTo(Duration.ofSeconds(15));
    }

    @Test
    void jitterMakesRenewalsEarlierByUpToItsPart() {
        Duration window = Duration.ofSeconds(30);

        assertThat(schedule.interval(window, 0.5)).isEqualTo(Duration.ofMillis(14_250));
        assertThat(schedule.interval(window, ALMOST_ONE))
                .isBetween(Duration.ofMillis(13_500), Duration.ofMillis(13_501));
    }

    @ParameterizedTest
    @CsvSource({"43200, 0.05, 0.5", "30, 0.05, 0.5", "5, 0.5, 0.1", "5, 0.05, 0.5", "3, 0.1, 0.5", "2, 0.5, 0.1"})
    void noIntervalIsShorterThanASecond(long window, double at, double jitter) {
        Duration interval = new RenewalSchedule(at, jitter, 3).interval(Duration.ofSeconds(window), ALMOST_ONE);

        assertThat(interval).isGreaterThanOrEqualTo(Duration.ofSeconds(1)).isLessThan(Duration.ofSeconds(window));
    }

    @ParameterizedTest
    @ValueSource(longs = {100, 500, 1_000, 1_500, 1_999})
    void windowsUnderTwoSecondsAreRenewedAtHalf(long millis) {
        Duration window = Duration.ofMillis(millis);

        assertThat(schedule.interval(window, ALMOST_ONE)).isEqualTo(window.dividedBy(2));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10})
    void allRetriesFollowEachOtherWithinTheHeadroom(int retries) {
        RenewalSchedule patient = new RenewalSchedule(0.5, 0.1, retries);
        Duration headroom = Duration.ofSeconds(15);
        Duration latestBefore = Duration.ZERO;
        for (int failures = 1; failures <= retries; failures++) {
            Duration earliest = patient.retryAfter(failures, headroom, 0);
            assertThat(earliest).isGreaterThanOrEqualTo(latestBefore.minusNanos(1_000));
            latestBefore = patient.retryAfter(failures, headroom, ALMOST_ONE);
            assertThat(latestBefore).isGreaterThan(earliest);
        }

        assertThat(latestBefore).isBetween(Duration.ofMillis(13_499), Duration.ofMillis(13_500));
    }

    /** Trap: full jitter can use the retries up at once, and an outage of a moment costs the lease. */
    @ParameterizedTest
    @CsvSource({"1, 6_750", "2, 9_000", "3, 9_642", "10, 10_121"})
    void lastRetryIsLateInTheHeadroomWhateverChanceSays(int retries, long earliestMillis) {
        RenewalSchedule patient = new RenewalSchedule(0.5, 0.1, retries);

        assertThat(patient.retryAfter(retries, Duration.ofSeconds(15), 0).toMillis())
                .isEqualTo(earliestMillis);
    }

    @Test
    void retriesComeAtRandomMomentsOfPartsThatDouble() {
        Duration headroom = Duration.ofSeconds(70);

        assertThat(schedule.retryAfter(1, headroom, 0)).isZero();
        assertThat(schedule.retryAfter(1, headroom, 0.5)).isEqualTo(Duration.ofMillis(4_500));
        assertThat(schedule.retryAfter(2, headroom, 0.5)).isEqualTo(Duration.ofSeconds(18));
        assertThat(schedule.retryAfter(3, headroom, 0.5)).isEqualTo(Duration.ofSeconds(54));
    }

    @Test
    void retryIsNeverInThePast() {
        assertThat(schedule.retryAfter(1, Duration.ofSeconds(-5), 0.5)).isZero();
        assertThat(schedule.retryAfter(3, Duration.ofSeconds(-5), 0.5)).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "at, 0.04, 0.1, 3",
        "at, 0.91, 0.1, 3",
        "at, NaN, 0.1, 3",
        "jitter, 0.5, -0.01, 3",
        "jitter, 0.5, 0.51, 3",
        "jitter, 0.5, NaN, 3",
        "retries, 0.5, 0.1, 0",
        "retries, 0.5, 0.1, 11"
    })
    void valueOutOfBoundsIsRefusedByName(String name, double at, double jitter, int retries) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RenewalSchedule(at, jitter, retries))
                .withMessageStartingWith(name + " (")
                .withMessageContaining(" must be from ");
    }

    @ParameterizedTest
    @CsvSource({"0.05, 0, 1", "0.9, 0.5, 10"})
    void boundsThemselvesAreAllowed(double at, double jitter, int retries) {
        assertThat(new RenewalSchedule(at, jitter, retries).retries()).isEqualTo(retries);
    }
}
