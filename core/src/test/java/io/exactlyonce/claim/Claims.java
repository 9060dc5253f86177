package io.exactlyonce.claim;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** Short forms for tests of what stands in front of a claim store; the contract of stores has its own. */
public final class Claims {

    public static final Duration LEASE = Duration.ofMinutes(1);

    private Claims() {}

    /** Returns a key that no test has used before. */
    public static ClaimKey newKey() {
        return new ClaimKey("orders", UUID.randomUUID().toString());
    }

    /** Returns a request with a claim of its own. */
    public static ClaimRequest request(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", LEASE);
    }

    static ClaimOutcome claim(ClaimStore store, ClaimRequest request) {
        return store.claim(List.of(request)).get(0);
    }

    static Acquired acquire(ClaimStore store, ClaimRequest request) {
        return (Acquired) claim(store, request);
    }

    public static boolean complete(ClaimStore store, ClaimRequest request, String result) {
        return store.end(List.of(new ClaimEnd.Completed(request.id(), result))).contains(request.id());
    }

    public static boolean renew(ClaimStore store, ClaimRequest request) {
        return store.renew(List.of(new LeaseRenewal(request.id(), LEASE))).contains(request.id());
    }

    public static boolean release(ClaimStore store, ClaimRequest request) {
        return store.end(List.of(new ClaimEnd.Released(request.id(), "failed", false)))
                .contains(request.id());
    }
}
