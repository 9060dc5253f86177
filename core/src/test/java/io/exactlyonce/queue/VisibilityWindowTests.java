package io.exactlyonce.queue;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VisibilityWindowTests {

    @ParameterizedTest
    @ValueSource(longs = {-1, 0, 43_201})
    void otherLengthsAreRefusedWithValueBoundsAndRemedy(long seconds) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> VisibilityWindow.ofSeconds(seconds))
                .withMessageContaining("(" + seconds + " s)")
                .withMessageContaining("from 1 s to 43,200 s")
                .withMessageContaining("messageVisibilitySeconds");
    }

    /** SQS counts whole seconds. A fraction would make the engine's deadline later than the deadline at SQS. */
    @Test
    void fractionsOfASecondAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new VisibilityWindow(Duration.ofMillis(1_500)))
                .withMessageContaining("whole seconds");
    }
}
