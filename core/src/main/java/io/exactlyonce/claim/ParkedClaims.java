package io.exactlyonce.claim;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The parked claims of a {@link ClaimStore}, for operators who decide on them. Thread-safe.
 *
 * <p>A decision names the claim that was read, and only the first one changes anything. If a call throws, look the key
 * up: the decision may or may not be stored.
 */
public interface ParkedClaims {

    /**
     * Lists parked claims by the time at which they were parked, oldest first; then by scope and key.
     *
     * @param after the claim after which the list begins, parked still or not; {@code null} for its start
     * @param limit maximum number of claims
     */
    List<ParkedClaim> list(@Nullable ParkedClaim after, int limit);

    /** Returns a parked key; empty if it is not parked. */
    Optional<ParkedClaim> find(ClaimKey key);

    /**
     * Returns any key's claim, parked or not; empty if there is none, or the store does not show it. A store that can
     * find a key by the hash in the logs, {@link ClaimKey#shortHash()}, accepts that instead of the key, if no key is
     * equal to it.
     */
    default Optional<ClaimDetails> details(ClaimKey key) {
        return Optional.empty();
    }

    /**
     * Releases a parked key: the next request acquires it, also one that leaves keys in doubt to an operator. Its
     * outcome says whether the key is in doubt, and it counts as the next attempt.
     *
     * @return whether the claim was parked until now
     */
    boolean release(ClaimId claim);

    /**
     * Records that a parked key's effect has happened.
     *
     * @return whether the claim was parked until now
     * @throws IllegalArgumentException if the result cannot be stored; nothing has been written then
     */
    boolean complete(ClaimResolution.Completed completion);
}
