package io.exactlyonce.claim;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Stores claims. Implementations must be thread-safe.
 *
 * <p>Each method takes a batch and decides every entry atomically; the batch as a whole is not atomic. Per key, by the
 * store's clock: at most one claim is held; a completed key is never acquired again; a write that names a lost claim
 * changes nothing; fencing tokens only increase.
 *
 * <p>If a method throws, each write may or may not have happened, and the call can be repeated with the same arguments.
 * If only some renewals or resolutions got no answer, the method returns the others, and names these in
 * {@link ClaimAnswers#unanswered()}. Claims have no partial answer: each request has an outcome, or the call throws.
 */
public interface ClaimStore {

    /**
     * Tries to claim keys. A key is acquired if it was never claimed, if its claim was released, or if its claim's
     * lease has expired.
     *
     * <p>A request whose {@code claimId} already holds the key acquires it again with a new lease, however late the
     * request is repeated. If that {@code claimId} was the last to hold the key and was released, the answer is held
     * elsewhere; a caller that still needs the key uses a new id.
     *
     * <p>A key is in doubt if its lease has expired or if it was released in doubt. Such a key is parked instead of
     * acquired if the request says so.
     *
     * <p>A batch may have two requests for a key that neither of them holds. Then the first can acquire the key, and
     * the second is answered as held elsewhere.
     *
     * @param requests at least one
     * @return one outcome for each request, in the same order
     * @throws IllegalArgumentException if one of the requests can never be stored
     */
    List<ClaimOutcome> claim(List<ClaimRequest> requests);

    /**
     * Extends leases, even expired ones, unless another claim has taken the key over.
     *
     * @return the claims that are held, and those without an answer; all others are lost
     */
    ClaimAnswers renew(List<LeaseRenewal> renewals);

    /**
     * Resolves claims, even after their leases have expired, unless another claim has taken the key over. The key of a
     * released claim can be acquired at once. A completed claim can be completed again: its first result stays. A
     * parked claim can be parked again: its first reason stays. An attempt that threw adds one to the key's failures,
     * once, however often its resolution is repeated.
     *
     * @param resolutions at least one, and one per claim
     * @return the claims whose resolution is recorded, by this call or, if they were completed or parked, by an
     *     earlier one; and the claims without an answer. All other claims no longer held their keys
     * @throws IllegalArgumentException if a result cannot be stored; the call can be repeated without it
     */
    ClaimAnswers resolve(List<? extends ClaimResolution> resolutions);

    /**
     * Returns the states of keys, without claiming any. The states are as current as the claims, and never an older
     * state of a replica. When the answer arrives, a free key may be held, and a held key may be completed: only {@link
     * #claim} decides. The state of a completed key has the fingerprint that the key was claimed with.
     *
     * @param keys without duplicates; an empty list only checks that the store answers
     * @return a state for each key; {@link KeyState#FREE} for a key that can never be stored
     */
    Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys);

    /**
     * Resolves and claims in one call, resolutions first, so that a key that is released here can be acquired here. A
     * store should override it if one call takes fewer steps than two.
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
     * Returns what a handler can do instead of {@code Claim.fence()}, as the end of a sentence. A {@link
     * FencingClaimStore} does not need it.
     */
    default String insteadOfFence() {
        return "give Claim.fencingToken() to a system that refuses stale writers";
    }
}
