package io.exactlyonce.claim;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The parked claims of a {@link ClaimStore}, for the people who decide on them. Safe for use by many threads.
 *
 * <p>A decision names the claim that was seen, and only the first one changes anything. One that throws may or may not have
 * happened: look the key up.
 */
public interface ParkedClaims {

    /**
     * Lists parked claims by the time at which they were parked, oldest first; then by scope and key.
     *
     * @param after the claim after which the list begins, parked still or not; {@code null} for its start
     * @param limit at most so many
     */
    List<ParkedClaim> list(@Nullable ParkedClaim after, int limit);

    /** Looks a key up; empty if it is not parked. */
    Optional<ParkedClaim> find(ClaimKey key);

    /**
     * Looks any key's claim up, parked or not; empty if there is none, or the store does not show it. A store that can find a key by
     * the hash that logs show, {@link ClaimKey#shortHash()}, takes that in the key's place, if no key is like it.
     */
    default Optional<ClaimDetails> details(ClaimKey key) {
        return Optional.empty();
    }

    /**
     * Gives a parked key free: the next request acquires it, also one that leaves doubt to a person. It is told of the
     * key's doubt, and counts as the next attempt.
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
