package io.exactlyonce.claim;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Stores claims. Implementations must be thread-safe.
 *
 * <p>Each method takes a batch and decides every entry atomically. The batch as a whole is not atomic. For each key, a
 * store guarantees by its own clock:
 *
 * <ul>
 *   <li>At most one claim holds the key.
 *   <li>A completed key is never acquired again.
 *   <li>A write that names a lost claim changes nothing.
 *   <li>Fencing tokens only increase.
 * </ul>
 *
 * <p>If a method throws, each write may or may not have happened, and the call can be repeated with the same arguments.
 * If some renewals or resolutions are answered and others are not, the method returns the answers, and names the
 * unanswered claims in {@link ClaimAnswers#unanswered()}. Calls that claim have no partial answer: the call returns an
 * outcome for each request, or throws.
 */
public interface ClaimStore {

    /**
     * Tries to claim keys. A request acquires its key in these cases:
     *
     * <ul>
     *   <li>The key was never claimed.
     *   <li>The key's last claim was released.
     *   <li>The lease of the key's claim has expired.
     *   <li>The request's own {@code claimId} already holds the key, because the request is repeated. The lease begins
     *       again, even if it has expired.
     * </ul>
     *
     * <p>If the key's last claim has the request's own {@code claimId}, and that claim was released, the answer is held
     * elsewhere. A caller that still needs the key uses a new id.
     *
     * <p>A key is in doubt if its lease has expired, or if a claim of the key was released as in doubt. A request with
     * {@link ClaimRequest.InDoubt#PARK} parks such a key instead of acquiring it, unless an operator has released the
     * key.
     *
     * <p>A batch may have several requests for one key. If none of them holds the key, the first request can acquire
     * it, and the others are answered as held elsewhere.
     *
     * @param requests at least one
     * @return one outcome for each request, in the same order
     * @throws IllegalArgumentException if one of the requests can never be stored
     */
    List<ClaimOutcome> claim(List<ClaimRequest> requests);

    /**
     * Extends leases. A lease is extended even after it has expired, if no other claim has taken the key over.
     *
     * @return the claims that hold their keys, and the claims without an answer; all other claims are lost
     */
    ClaimAnswers renew(List<LeaseRenewal> renewals);

    /**
     * Resolves claims. A claim is resolved even after its lease has expired, if no other claim has taken the key over.
     *
     * <ul>
     *   <li>The key of a released claim can be acquired at once.
     *   <li>A completed claim can be completed again, and keeps its first result.
     *   <li>A parked claim can be parked again, and keeps its first reason.
     *   <li>An attempt that threw adds one to the key's failures. A repeated resolution adds nothing more.
     * </ul>
     *
     * @param resolutions at least one, and one per claim
     * @return the claims whose resolution is recorded, and the claims without an answer. A completion or parking that
     *     an earlier call recorded counts as recorded. All other claims no longer held their keys
     * @throws IllegalArgumentException if a result cannot be stored; the call can be repeated without that result
     */
    ClaimAnswers resolve(List<? extends ClaimResolution> resolutions);

    /**
     * Returns the states of keys, without claiming any key. The states are current, and never those of a replica that
     * lags behind. A state may change before the caller gets it, so only {@link #claim} decides whether the caller has
     * the key. The state of a completed key has the fingerprint of the payload for which the key was claimed.
     *
     * @param keys without duplicates; an empty list only checks that the store answers
     * @return a state for each key; {@link KeyState#FREE} for a key that can never be stored
     */
    Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys);

    /**
     * Resolves and claims in one call. Resolutions come first, so that a key that this call releases can be acquired by
     * the same call. A store should override this method if it can do both in fewer requests.
     *
     * @throws IllegalArgumentException if one of the entries can never be stored
     */
    default ClaimBatch.Result apply(ClaimBatch batch) {
        ClaimAnswers resolved =
                batch.resolutions().isEmpty() ? new ClaimAnswers(Set.of()) : resolve(batch.resolutions());
        List<ClaimOutcome> claimed = batch.claims().isEmpty() ? List.of() : claim(batch.claims());
        return new ClaimBatch.Result(resolved, claimed);
    }

    /**
     * Returns advice for a handler that calls {@code Claim.fence()} although this store is not a {@link
     * FencingClaimStore}. The advice is the end of a sentence.
     */
    default String insteadOfFence() {
        return "give Claim.fencingToken() to a system that refuses stale writers";
    }
}
