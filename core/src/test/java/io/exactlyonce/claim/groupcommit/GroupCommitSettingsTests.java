package io.exactlyonce.claim.groupcommit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GroupCommitSettingsTests {

    @ParameterizedTest
    @CsvSource({
        "17, 256, PT3S, flushers (17) must be from 1 to 16",
        "2, 257, PT3S, maxBatch (257) must be from 1 to 256",
        "2, 256, PT-1S, queueTimeout (PT-1S) must be positive"
    })
    void termsOutOfBoundsAreRefusedWithValueAndBounds(
            int flushers, int maxBatch, Duration queueTimeout, String message) {
        assertThatThrownBy(() -> new GroupCommitSettings(flushers, maxBatch, queueTimeout))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
