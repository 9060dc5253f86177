package io.exactlyonce.chaos.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The checker accepts random valid histories, and rejects each one after a change of one event. */
class CheckerPropertyTests {

    private static final int SEEDS = 60;

    private static Verdict judge(List<Event> events) {
        return new Story().tell(events).judge();
    }

    @Test
    void validHistoriesAreAccepted() {
        long explained = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Verdict verdict = judge(RandomStory.of(new Random(seed)));

            assertThat(verdict.violations()).as("seed %d", seed).isEmpty();
            explained += verdict.explained().size();
        }
        assertThat(explained).isGreaterThan(SEEDS / 2);
    }

    @ParameterizedTest
    @EnumSource
    void mutatedHistoriesAreRejected(Mutation mutation) {
        int mutated = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            List<Event> valid = RandomStory.of(random);
            List<Event> changed = mutation.apply(valid, random);
            if (!changed.equals(valid)) {
                assertThat(judge(changed).holds()).as("seed %d", seed).isFalse();
                mutated++;
            }
        }
        assertThat(mutated).isGreaterThan(SEEDS / 10);
    }
}
