package io.exactlyonce.test.interleaving;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.InMemoryClaimStore;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the store in memory under random interleavings. The same interleavings find each missing guard of a broken
 * store.
 */
class InMemoryClaimStorePropertyTests {

    private static final int TRIES = 3_000;

    /** The other tests remove guards from a {@code WrappedStore}. Here the wrapper itself must break no rule. */
    @Test
    void everyInterleavingKeepsTheRules() {
        check(Seeds.ofThisRun(TRIES), WrappedStore::new);
    }

    @ParameterizedTest
    @EnumSource
    void storeThatLacksAGuardIsFound(MissingGuard guard) {
        requireFound(guard, guard::remove);
    }

    @ParameterizedTest
    @EnumSource
    void storeThatLacksAGuardOfDecisionsOrLookupsIsFound(MissingDecisionGuard guard) {
        requireFound(guard, guard::remove);
    }

    private static void requireFound(Enum<?> guard, Function<InMemoryClaimStore, WrappedStore> removal) {
        assertThatThrownBy(() -> check(Seeds.ofEachRun(TRIES), removal))
                .as("interleavings of a store without the guard: %s", guard)
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("broken: ");
    }

    private static void check(Seeds seeds, Function<InMemoryClaimStore, WrappedStore> wrapping) {
        seeds.check(Step::interleaving, steps -> Interleaving.check(inMemory(wrapping), steps));
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
