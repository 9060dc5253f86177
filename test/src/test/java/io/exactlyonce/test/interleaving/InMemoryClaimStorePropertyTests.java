package io.exactlyonce.test.interleaving;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.InMemoryClaimStore;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The store in memory under random interleavings; and the proof that they find each guard that a store may lack. */
class InMemoryClaimStorePropertyTests {

    private static final int TRIES = 3_000;

    @Provide
    Arbitrary<List<Step>> interleavings() {
        return Step.interleavings();
    }

    /** Through the wrapper that the proof rests on, which thus breaks nothing. */
    @Property(tries = TRIES)
    void everyInterleavingKeepsTheRules(@ForAll("interleavings") List<Step> steps) {
        Interleaving.check(inMemory(WrappedStore::new), steps);
    }

    @Property(generation = GenerationMode.EXHAUSTIVE)
    void storeThatLacksAGuardIsFound(@ForAll MissingGuard guard) {
        requireFound(guard, guard::remove);
    }

    @Property(generation = GenerationMode.EXHAUSTIVE)
    void storeThatLacksAGuardOfDecisionsOrLooksIsFound(@ForAll MissingDecisionGuard guard) {
        requireFound(guard, guard::remove);
    }

    private void requireFound(Enum<?> guard, Function<InMemoryClaimStore, WrappedStore> removal) {
        assertThat(interleavings().sampleStream().limit(TRIES))
                .as("interleavings of a store without the guard: %s", guard)
                .anyMatch(steps -> breaks(inMemory(removal), steps));
    }

    private static boolean breaks(StoreInTime subject, List<Step> steps) {
        try {
            Interleaving.check(subject, steps);
            return false;
        } catch (AssertionError found) {
            assertThat(found).hasMessageStartingWith("broken: ");
            return true;
        }
    }

    private static StoreInTime inMemory(Function<InMemoryClaimStore, WrappedStore> wrapping) {
        var memory = new InMemoryClaimStore();
        WrappedStore store = wrapping.apply(memory);
        return new StoreInTime() {
            @Override
            public ClaimStore store() {
                return store;
            }

            @Override
            public ParkedClaims parked() {
                return store;
            }

            @Override
            public void pass(String scope, Duration time) {
                memory.advance(time);
            }
        };
    }
}
