package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TestClockTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** If a failed tick ended the ticks, later tests of the context would have no renewals. */
    @Test
    void tickThatFailsIsTheTestsFailureAndEndsNoTicks() {
        TestClock clock = new TestClock();
        AtomicInteger ticks = new AtomicInteger();
        clock.every(SECOND, "ticks", () -> {
            if (ticks.incrementAndGet() == 1) {
                throw new IllegalStateException("the first");
            }
        });

        assertThatThrownBy(() -> clock.advance(SECOND)).hasMessage("the first");
        clock.advance(SECOND);

        assertThat(ticks).hasValue(2);
    }
}
