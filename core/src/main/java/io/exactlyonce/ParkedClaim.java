package io.exactlyonce;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/**
 * A snapshot of a key that waits for an operator's decision.
 *
 * @param scope the key's namespace
 * @param key the key as it is stored
 * @param claimId id of the parked claim: a decision applies only to this one
 * @param attempt the number of the parked attempt, from 1
 * @param inDoubt whether an attempt may have had effects that are not recorded
 * @param reason why it was parked
 * @param parkedAtMicros when it was parked, by the store's clock, in microseconds since 1970
 */
public record ParkedClaim(
        String scope, String key, UUID claimId, int attempt, boolean inDoubt, String reason, long parkedAtMicros) {

    /** Returns when it was parked, by the store's clock. */
    public Instant parkedAt() {
        return Instant.EPOCH.plus(parkedAtMicros, ChronoUnit.MICROS);
    }

    /** Leaves out the key, which may be personal data. */
    @Override
    public String toString() {
        return "claim %s of scope '%s', attempt %d, parked at %s: %s"
                .formatted(claimId, scope, attempt, parkedAt(), reason);
    }
}
