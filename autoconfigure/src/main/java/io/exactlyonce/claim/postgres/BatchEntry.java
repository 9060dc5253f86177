package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import org.jspecify.annotations.Nullable;

/** One request of a batch, and its outcome once there is one. Used by one thread. */
final class BatchEntry {

    private final ClaimRequest request;
    private @Nullable ClaimOutcome outcome;

    BatchEntry(ClaimRequest request) {
        this.request = request;
    }

    ClaimRequest request() {
        return request;
    }

    ClaimKey key() {
        return request.key();
    }

    boolean isOpen() {
        return outcome == null;
    }

    void decide(ClaimOutcome outcome) {
        this.outcome = outcome;
    }

    ClaimOutcome outcome() {
        if (outcome == null) {
            throw new IllegalStateException("No outcome yet for " + request.key());
        }
        return outcome;
    }
}
