package io.exactlyonce.claim;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps claims. Each method takes a batch and decides each of its entries atomically; a batch is no unit of its own.
 * Safe for use by many threads.
 *
 * <p>Guaranteed for each key, by the store's own clock: at most one claim is held at any time; a completed key is never
 * acquired again; a write that names a claim which no longer holds its key changes nothing; fencing tokens only grow.
 *
 * <p>Not guaranteed: that a holder knows in time that its lease ended. That is the caller's business.
 *
 * <p>A method that throws has told nothing: each of its writes may or may not have happened. All of them can be repeated
 * with the same arguments. {@link ClaimsPartlyAnsweredException} alone tells which ones have happened.
 */
public interface ClaimStore {

    /**
     * Tries to claim keys. A key is acquired if it was never claimed, if its claim was released, or if its claim's
     * lease is over; a request whose {@code claimId} holds the key already acquires it again, however often and late it is
     * repeated, with its lease counted anew. One whose {@code claimId} was the last to hold the key, and was released since,
     * by its worker or by a person, comes late: it is answered as held elsewhere, and a caller that still wants the key asks
     * by a new one. A key that is in doubt (its lease is over, or it was released in doubt) is parked instead if the
     * request says so. Of two requests for the same key in one batch, unless one of them holds it already, the first can
     * acquire it, and the other is then answered as held elsewhere.
     *
     * @param requests at least one
     * @return one outcome for each request, in the same order
     */
    List<ClaimOutcome> claim(List<ClaimRequest> requests);

    /**
     * Extends leases, also ones that are over, as long as no other claim has taken the key over.
     *
     * @return the claims that are held; the ones that are missing are lost
     */
    Set<ClaimId> renew(List<LeaseRenewal> renewals);

    /**
     * Records how claims end, also after the lease is over, as long as no other claim has taken the key over. The key of a
     * claim that is released can be acquired at once. A claim that is completed already can be completed again: its first
     * result stays.
     *
     * @param resolutions at least one, and no claim is ended in two ways
     * @return the claims whose end is recorded, a completion also by an earlier call; the ones that are missing were not
     *     held any more
     * @throws IllegalArgumentException if a result cannot be stored; the call can be repeated without it
     */
    Set<ClaimId> resolve(List<? extends ClaimResolution> resolutions);

    /**
     * Returns how keys stand, without claiming any: one call looks at the keys of all waiting deliveries. As current as the
     * claims themselves, never a replica's older state; but by the time the answer is there, a free key may be held, and
     * a held one completed. Only {@link #claim} decides. A completed key tells the fingerprint that it was claimed with.
     *
     * @param keys without duplicates; none at all asks only whether the store answers
     * @return a state for each key; {@link KeyState#FREE} for one that can never be stored
     */
    Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys);

    /**
     * Does all of this together: ends before claims, so that a key that is given up here can be
     * acquired here. A store that can do it in fewer steps than one call for each list should.
     *
     * @throws IllegalArgumentException if one of the entries can never be stored
     */
    default ClaimBatch.Result apply(ClaimBatch batch) {
        Set<ClaimId> recorded = Set.of();
        Set<ClaimId> unanswered = Set.of();
        try {
            recorded = batch.resolutions().isEmpty() ? Set.of() : resolve(batch.resolutions());
        } catch (ClaimsPartlyAnsweredException some) {
            recorded = some.granted();
            unanswered = some.unanswered();
        }
        List<ClaimOutcome> claimed = batch.claims().isEmpty() ? List.of() : claim(batch.claims());
        return new ClaimBatch.Result(recorded, claimed, unanswered);
    }

    /**
     * Checks, within the transaction that the calling thread has open in the application, that a claim holds its key, and
     * keeps other claims from taking the key over until that transaction ends. Renewal and end of the claim are not kept
     * waiting.
     *
     * @return whether the claim holds its key
     * @throws IllegalStateException if there is no transaction of the database that keeps the claims
     * @throws UnsupportedOperationException if this store shares no transactions with applications
     */
    default boolean fence(ClaimId claim) {
        throw new UnsupportedOperationException(
                "%s shares no transactions with the application, so it cannot fence them"
                        .formatted(getClass().getName()));
    }
}
