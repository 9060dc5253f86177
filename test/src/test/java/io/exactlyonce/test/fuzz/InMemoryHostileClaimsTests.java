package io.exactlyonce.test.fuzz;

import io.exactlyonce.test.InMemoryClaimStore;
import org.junit.jupiter.api.Test;

/** Hostile keys, results and errors in memory. */
class InMemoryHostileClaimsTests {

    private final InMemoryClaimStore store = new InMemoryClaimStore();

    @Test
    void everyKeyIsItsOwnAndEveryResultComesBack() {
        Fuzz.check(50, HostileClaims::any, runs -> HostileClaims.check(store, store, runs));
    }
}
