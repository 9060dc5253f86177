package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.coalescing.ExecutorClaimStore;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.waiting.StoreCircuitBreakers;
import io.exactlyonce.time.Timer;

/** Makes what writes claims, on a store that is asked without waiting: by itself, or on threads if it knows no such call. */
final class ClaimWriters {

    private final ClaimStore store;
    private final AsyncClaimStore async;
    private final Timer timer;

    /** @param threads most that wait for a store that makes its callers wait */
    ClaimWriters(ClaimStore store, int threads, Timer timer) {
        this.store = store;
        this.timer = timer;
        this.async = store instanceof AsyncClaimStore own
                ? own
                : new ExecutorClaimStore(
                        store,
                        ExactlyOnceAutoConfiguration.threads("exactly-once-claims-", threads, Integer.MAX_VALUE));
    }

    /** Returns one that tells no circuit breaker of answers. */
    ClaimWriter plain() {
        return new ClaimWriter(store, async, timer);
    }

    /** Returns the store itself, asked without waiting. */
    AsyncClaimStore async() {
        return async;
    }

    /** Returns one whose claims tell the claim store's circuit breaker whether they are answered. */
    ClaimWriter guarded(StoreCircuitBreakers breakers) {
        return new ClaimWriter(store, breakers.claims().guard(async), timer);
    }
}
