package io.exactlyonce.actuate;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ParkedClaims;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A parked key in a list, as JSON. Users depend on the names of the fields.
 *
 * @param keyHash the key's hash, as in log lines
 * @param key the key; masked if the caller may not see keys
 * @param claimId the id of the parked claim. A caller who releases or completes the key must send this id
 * @param errorClass the class of the exception for which the key was parked. If there was no exception, the reason as a
 *     sentence
 * @param error why the key was parked
 * @param downstreamKey the idempotency key for other systems
 * @param failures how many attempts failed since an operator last released the key
 * @param maxAttempts how many attempts may fail before the key is parked; {@code null} if no listener of this instance
 *     has a limit
 */
record ShownParked(
        String scope,
        String keyHash,
        String key,
        UUID claimId,
        int attempt,
        boolean isInDoubt,
        String errorClass,
        String error,
        Instant parkedAt,
        String downstreamKey,
        int failures,
        @Nullable Integer maxAttempts) {

    private static final int LONGEST_ERROR = 500;

    /** @param shown the key; masked if the caller may not see it */
    static ShownParked of(ParkedClaim claim, String shown, ListenerStates listeners) {
        ClaimKey key = new ClaimKey(claim.scope(), claim.key());
        return new ShownParked(
                claim.scope(),
                key.keyHash(),
                shown,
                claim.claimId(),
                claim.attempt(),
                claim.isInDoubt(),
                ParkedClaims.classOf(claim.reason()),
                OneLine.of(claim.reason(), LONGEST_ERROR),
                claim.parkedAt(),
                key.downstreamKey(),
                claim.failures(),
                listeners.maxAttempts(claim.scope()));
    }
}
