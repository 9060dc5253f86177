package io.exactlyonce.claim;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parked claims of a {@link ClaimStore}, for operators who decide on them. Thread-safe.
 *
 * <p>No call may delay the claims of the store. A call that waits for others throws {@link ClaimStoreBusyException}, and
 * has done nothing.
 *
 * <p>A decision names the claim that was read, and only the first one changes anything. If a call throws, look the key
 * up: the decision may or may not be stored.
 */
public interface ParkedClaims {

    /** Claims that {@link #findByKeyHash} reads at a time. */
    int PAGE = 1_000;

    /** Pages that {@link #findByKeyHash} reads at most. */
    int PAGES = 100;

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
     * Returns a parked key by the hash that logs show; empty if no such key is among the parked ones that it reads: the
     * oldest 100,000, unless the store has a faster way.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<ParkedClaim> findByKeyHash(String scope, String hash) {
        List<ParkedClaim> page = list(null, PAGE);
        for (int pages = 1; !page.isEmpty(); pages++) {
            for (ParkedClaim parked : page) {
                if (parked.scope().equals(scope)
                        && new ClaimKey(scope, parked.key()).keyHash().equals(hash)) {
                    return Optional.of(parked);
                }
            }
            page = pages < PAGES ? list(page.get(page.size() - 1), PAGE) : List.of();
        }
        return Optional.empty();
    }

    /**
     * Returns a statement with which an operator finds any key by its hash, outside of this application; empty if the
     * store has none.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<String> searchFor(String hash) {
        return Optional.empty();
    }

    /** Returns any key's claim, parked or not; empty if there is none, or the store does not show it. */
    default Optional<ClaimDetails> details(ClaimKey key) {
        return Optional.empty();
    }

    /**
     * Returns a key's claim by the hash that logs show. Every store finds a parked key of {@link #findByKeyHash}, and may
     * find others. The work of a call is bounded, however many claims there are.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<ClaimDetails> detailsByKeyHash(String scope, String hash) {
        return findByKeyHash(scope, hash).flatMap(parked -> details(new ClaimKey(scope, parked.key())));
    }

    /**
     * Releases a parked key.
     *
     * @return whether the claim was parked until now
     * @see #releaseAll
     */
    default boolean release(ClaimId claim) {
        return releaseAll(List.of(claim)).contains(claim);
    }

    /**
     * Records that a parked key's effect has happened.
     *
     * @return whether the claim was parked until now
     * @see #completeAll
     */
    default boolean complete(ClaimResolution.Completed completion) {
        return completeAll(List.of(completion)).contains(completion.claim());
    }

    /**
     * Releases parked keys in few requests. The next request for such a key acquires it, whatever its policy for keys in doubt.
     * The outcome says whether the key is in doubt, and the request counts as the next attempt. No attempt of the key counts as
     * one that threw any more.
     *
     * @param claims each once; of several claims of a key at most one can be parked
     * @return the claims that were parked until now
     */
    Set<ClaimId> releaseAll(Collection<ClaimId> claims);

    /**
     * Records in few requests that the effects of parked keys have happened.
     *
     * @param completions each claim once; of several claims of a key at most one can be parked
     * @return the claims that were parked until now
     * @throws IllegalArgumentException if a result cannot be stored; nothing has been written then
     */
    Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions);
}
