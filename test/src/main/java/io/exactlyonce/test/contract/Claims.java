package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.LeaseRenewal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Methods that shorten the tests of a claim store. */
final class Claims {

    private static final int MOST_ATTEMPTS = 100;

    static final Duration LEASE = Duration.ofMinutes(1);

    private Claims() {}

    /** Returns a key that no earlier test has used. */
    static ClaimKey newKey() {
        return new ClaimKey("orders", UUID.randomUUID().toString());
    }

    /** Returns a request with the id of a new claim. */
    static ClaimRequest request(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", LEASE);
    }

    static ClaimOutcome claim(ClaimStore store, ClaimRequest request) {
        return store.claim(List.of(request)).get(0);
    }

    static Acquired acquire(ClaimStore store, ClaimRequest request) {
        return (Acquired) claim(store, request);
    }

    /**
     * Returns the remaining lease of the claim that holds a key. To learn it, this method claims the key a second time.
     */
    static Duration remaining(ClaimStore store, ClaimKey key) {
        return ((HeldElsewhere) claim(store, request(key))).leaseRemaining();
    }

    static boolean complete(ClaimStore store, ClaimRequest request, @Nullable String result) {
        return resolve(store, new ClaimResolution.Completed(request.id(), result));
    }

    static boolean renew(ClaimStore store, ClaimRequest request) {
        return store.renew(List.of(new LeaseRenewal(request.id(), LEASE)))
                .granted()
                .contains(request.id());
    }

    /** Releases a claim whose attempt threw. */
    static boolean fail(ClaimStore store, ClaimRequest request) {
        return resolve(store, new ClaimResolution.Released(request.id(), "it threw", false, true));
    }

    static boolean release(ClaimStore store, ClaimRequest request) {
        return resolve(store, new ClaimResolution.Released(request.id(), "failed", false));
    }

    /**
     * Completes, releases or parks a claim. If the store gives no answer, for example because the row is locked, the
     * call is repeated, as in the engine.
     */
    private static boolean resolve(ClaimStore store, ClaimResolution resolution) {
        ClaimAnswers answers = store.resolve(List.of(resolution));
        for (int attempt = 1; attempt < MOST_ATTEMPTS && !answers.unanswered().isEmpty(); attempt++) {
            answers = store.resolve(List.of(resolution));
        }
        return answers.requireAll().contains(resolution.claim());
    }
}
