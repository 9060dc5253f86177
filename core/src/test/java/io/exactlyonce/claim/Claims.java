package io.exactlyonce.claim;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** Keys and requests for tests of classes that call a claim store. The contract tests of stores have their own. */
public final class Claims {

    public static final Duration LEASE = Duration.ofMinutes(1);

    private Claims() {}

    /** Returns a key that no test has used before. */
    public static ClaimKey newKey() {
        return new ClaimKey("orders", UUID.randomUUID().toString());
    }

    /** Returns a request with a new claim id. */
    public static ClaimRequest request(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", LEASE);
    }

    public static boolean release(ClaimStore store, ClaimRequest request) {
        return store.resolve(List.of(new ClaimResolution.Released(request.id(), "failed", false)))
                .granted()
                .contains(request.id());
    }
}
