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
 * @param key the key, if the caller may see it
 * @param claimId the parked claim, which a decision names
 * @param errorClass the part of the reason that many keys share
 * @param error the reason
 * @param downstreamKey the key that downstream systems know
 * @param failures attempts that threw, since an operator released the key last
 * @param maxAttempts how many may throw before the key is parked; {@code null} if no listener of this instance bounds them
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
