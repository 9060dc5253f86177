package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StaticWindowRuleTests {

    @Test
    void windowOfSixTimeoutsIsLongEnough() {
        assertThat(StaticWindowRule.violation(VisibilityWindow.ofSeconds(1_800), Duration.ofMinutes(5)))
                .isEmpty();
    }

    /** The third incident: handlers of 300 s on a window of 30 s. */
    @Test
    void shorterWindowIsToldWithValueBoundAndRemedy() {
        assertThat(StaticWindowRule.violation(VisibilityWindow.ofSeconds(30), Duration.ofMinutes(5)))
                .get()
                .asString()
                .contains("the visibility window (30s)", "6 times the listener's timeout (300s): 1800s")
                .contains("messageVisibilitySeconds");
    }

    @Test
    void windowThatIsASecondShortIsTold() {
        assertThat(StaticWindowRule.violation(VisibilityWindow.ofSeconds(1_799), Duration.ofMinutes(5)))
                .isPresent();
    }

    @Test
    void timeoutThatNoWindowCanHoldIsToBeShortened() {
        assertThat(StaticWindowRule.violation(new VisibilityWindow(VisibilityWindow.CEILING), Duration.ofHours(3)))
                .get()
                .asString()
                .contains("64800s", "shorten the timeout to at most 7200s");
    }

    @Test
    void absentTimeoutIsToldWithTheLongestThatTheWindowAllows() {
        assertThat(StaticWindowRule.violation(VisibilityWindow.ofSeconds(31), null))
                .get()
                .asString()
                .contains("no timeout", "window (31s)", "(5166ms)");
    }

    @ParameterizedTest
    @CsvSource({"0, 30, 0.0", "15000, 30, 0.5", "45000, 30, 1.5", "1, 1, 0.001", "43200000, 43200, 1.0"})
    void ratioIsThePartOfTheWindowThatDeliveriesTake(long p95Millis, long windowSeconds, double ratio) {
        assertThat(StaticWindowRule.utilization(
                        Duration.ofMillis(p95Millis), VisibilityWindow.ofSeconds(windowSeconds)))
                .isEqualTo(ratio);
    }
}
