package io.exactlyonce.actuate;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ParkedClaims;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A parked key as lists show it. The names of its fields are an API.
 *
 * @param keyHash the hash that logs show
 * @param key the key, or a replacement if the caller may not see keys
 * @param claimId the id of the parked claim, which a request for a decision names
 * @param errorClass the class of the exception for which the key was parked, or the whole reason if it names no
 *     exception
 * @param error why the key was parked
 * @param downstreamKey the key that downstream systems know
 * @param failures the number of attempts that threw since an operator last released the key
 * @param maxAttempts how many attempts may throw before the key is parked; {@code null} if no listener of this
 *     instance has a limit
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

    /** @param shown the key, or a replacement that the caller may see */
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
