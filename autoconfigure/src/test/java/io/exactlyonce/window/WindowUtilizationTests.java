package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowUtilizationTests {

    @ParameterizedTest
    @CsvSource({"0, 30, 0.0", "15000, 30, 0.5", "45000, 30, 1.5", "1, 1, 0.001", "43200000, 43200, 1.0"})
    void ratioIsThePartOfTheWindowThatDeliveriesTake(long p95Millis, long windowSeconds, double ratio) {
        assertThat(WindowUtilization.ratio(Duration.ofMillis(p95Millis), VisibilityWindow.ofSeconds(windowSeconds)))
                .isEqualTo(ratio);
    }
}
