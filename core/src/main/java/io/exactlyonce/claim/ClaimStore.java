package io.exactlyonce.claim;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Stores claims. Implementations must be thread-safe.
 *
 * <p>Each method takes several claims or keys. Each of them is decided atomically, and independently of the others.
 * Leases expire by the store's own clock. For each key, a store guarantees:
 *
 * <ul>
 *   <li>At most one claim holds the key.
 *   <li>A completed key is never acquired again.
 *   <li>A claim that has lost its key changes nothing any more.
 *   <li>Fencing tokens only increase.
 * </ul>
 *
 * <p>If a method throws, all, some or none of its writes may have happened. The caller can repeat the call with the
 * same arguments.
 *
 * <p>{@link #renew} and {@link #resolve} do not throw if only some claims get no answer. They name these claims in
 * {@link ClaimAnswers#unanswered()}. In contrast, {@link #claim} returns an outcome for every request, or throws.
 */
public interface ClaimStore {

    /**
     * Tries to claim keys. A request acquires its key in these cases:
     *
     * <ul>
     *   <li>The key was never claimed.
     *   <li>The key's last claim was released.
     *   <li>The lease of the key's claim has expired.
     *   <li>The request is repeated: the claim with its id already holds the key. The lease begins again, even if it
     *       has expired.
     * </ul>
     *
     * <p>A released claim cannot get its key again. If a request repeats the id of the key's last claim, and that claim
     * was released, the outcome is {@link ClaimOutcome.HeldElsewhere}. A caller that still needs the key uses a new id.
     *
     * <p>A key is in doubt if its lease has expired, or if a claim of the key was released as in doubt. A request with
     * {@link ClaimRequest.InDoubt#PARK} parks such a key instead of acquiring it, unless an operator has released the
     * key.
     *
     * <p>Several requests may name the same key. If none of them holds the key yet, only the first one can acquire it.
     * The outcome of the others is then {@link ClaimOutcome.HeldElsewhere}.
     *
     * @param requests at least one
     * @return one outcome for each request, in the same order
     * @throws IllegalArgumentException if one of the requests can never be stored
     */
    List<ClaimOutcome> claim(List<ClaimRequest> requests);

    /**
     * Extends leases. Even an expired lease is extended if no other claim has taken the key over.
     *
     * @return the claims that hold their keys, and the claims that got no answer. A claim that is in neither set has
     *     lost its key
     */
    ClaimAnswers renew(List<LeaseRenewal> renewals);

    /**
     * Completes, releases or parks claims. This works even after a lease has expired, if no other claim has taken the
     * key over.
     *
     * <ul>
     *   <li>A released key can be acquired at once.
     *   <li>If a completed claim is completed again, the first result is kept.
     *   <li>If a parked claim is parked again, the first reason is kept.
     *   <li>If the attempt threw, the key's failures increase by one. If the resolution is repeated, they do not
     *       increase again.
     * </ul>
     *
     * @param resolutions at least one, and one per claim
     * @return the claims whose resolution is stored, and the claims that got no answer. A claim that is in neither set
     *     has lost its key. If an earlier call has already completed or parked a claim, its resolution counts as stored
     * @throws IllegalArgumentException if a result cannot be stored; the call can be repeated without that result
     */
    ClaimAnswers resolve(List<? extends ClaimResolution> resolutions);

    /**
     * Looks up the states of keys without claiming them. The store reads current data, and not a replica that lags
     * behind. A state may still change before the caller sees it, so only {@link #claim} decides who gets a key. The
     * state of a completed key contains the payload fingerprint.
     *
     * @param keys without duplicates; an empty list only checks that the store answers
     * @return a state for each key. A key that the store cannot keep (for example, because it has too many bytes for an
     *     index) is {@link KeyState#FREE}
     */
    Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys);

    /**
     * Resolves claims, and then claims keys. If a resolution releases a key, a request of the same call can acquire it.
     * A store that can do both in fewer requests should override this method.
     *
     * @throws IllegalArgumentException if one of the resolutions or requests can never be stored
     */
    default ClaimBatch.Result apply(ClaimBatch batch) {
        ClaimAnswers resolved =
                batch.resolutions().isEmpty() ? new ClaimAnswers(Set.of()) : resolve(batch.resolutions());
        List<ClaimOutcome> claimed = batch.claims().isEmpty() ? List.of() : claim(batch.claims());
        return new ClaimBatch.Result(resolved, claimed);
    }

    /**
     * Returns what a developer can do instead of calling {@code Claim.fence()}, if this store is not a
     * {@link FencingClaimStore}. The error message of {@code fence()} ends with this text.
     */
    default String insteadOfFence() {
        return "give Claim.fencingToken() to a system that refuses stale writers";
    }
}
