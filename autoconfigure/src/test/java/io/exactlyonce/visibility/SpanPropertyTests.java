package io.exactlyonce.visibility;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.exactlyonce.renewal.SpanHistory;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Ticks look at spans only when one has announced it. */
class SpanPropertyTests {

    private static final int TRIES = 20_000;

    @Test
    void noSpanIsDueOrInDoubtBeforeTheLookThatItHasAnnounced() {
        for (long seed = 0; seed < TRIES; seed++) {
            SpanHistory history = SpanHistory.any(new Random(seed));
            assertThatCode(history::check).as("seed %d: %s", seed, history).doesNotThrowAnyException();
        }
    }
}
