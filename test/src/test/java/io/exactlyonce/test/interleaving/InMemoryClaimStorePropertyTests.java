package io.exactlyonce.test.interleaving;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.test.InMemoryClaimStore;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
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

    @Property(tries = TRIES)
    void everyInterleavingKeepsTheRules(@ForAll("interleavings") List<Step> steps) {
        Interleaving.check(inMemory(UnaryOperator.identity()), steps);
    }

    @Property(generation = GenerationMode.EXHAUSTIVE)
    void storeThatLacksAGuardIsFound(@ForAll MissingGuard guard) {
        assertThat(interleavings().sampleStream().limit(300))
                .as("interleavings of a store without the guard: %s", guard)
                .anyMatch(steps -> breaks(inMemory(guard::remove), steps));
    }

    /** What the proof rests on: the wrapper alone breaks nothing. */
    @Example
    void storeThatIsOnlyWrappedIsNotFound() {
        assertThat(interleavings().sampleStream().limit(500))
                .noneMatch(steps -> breaks(inMemory(WrappedStore::new), steps));
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

    private static StoreInTime inMemory(UnaryOperator<ClaimStore> wrapping) {
        var memory = new InMemoryClaimStore();
        ClaimStore store = wrapping.apply(memory);
        return new StoreInTime() {
            @Override
            public ClaimStore store() {
                return store;
            }

            @Override
            public void pass(String scope, Duration time) {
                memory.advance(time);
            }
        };
    }
}
