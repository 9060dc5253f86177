package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOff;

/** Claims, completes, releases and parks the keys of a batch together, with the patience of {@link ClaimWriter}. */
public final class BatchKeeper {

    private static final Logger log = LoggerFactory.getLogger(BatchKeeper.class);

    private final ClaimStore store;

    public BatchKeeper(ClaimStore store) {
        this.store = store;
    }

    /**
     * Claims keys. When there is no answer at all, what may have been claimed all the same is given up.
     *
     * @param requests at least one
     * @throws RuntimeException if the store did not answer
     */
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return claim(requests, ClaimWriter.fewPauses(), () -> true);
    }

    /** Does the same, and tries for as long as it is wanted. */
    public List<ClaimOutcome> claim(List<ClaimRequest> requests, BooleanSupplier wanted) {
        return claim(requests, ClaimWriter.endlessPauses(), wanted);
    }

    private List<ClaimOutcome> claim(List<ClaimRequest> requests, BackOff pauses, BooleanSupplier wanted) {
        try {
            return StoreCalls.untilAnswered(
                    "Claiming a batch that begins with",
                    requests.get(0).key(),
                    pauses,
                    wanted,
                    () -> store.claim(requests));
        } catch (RuntimeException unanswered) {
            giveUp(requests, unanswered);
            throw unanswered;
        }
    }

    /** Gives up what may have been claimed although the answer was lost. */
    public void giveUp(List<ClaimRequest> requests, RuntimeException unanswered) {
        try {
            store.end(requests.stream()
                    .map(request -> new ClaimEnd.Released(request.id(), "the claim got no answer", false))
                    .toList());
        } catch (RuntimeException failure) {
            unanswered.addSuppressed(failure);
        }
    }

    /**
     * Completes claims without results, and tries for as long as it is wanted.
     *
     * @param claims at least one
     * @return the claims whose completion is recorded; the others were lost
     * @throws RuntimeException if the store did not answer as long as it was wanted
     */
    public Set<ClaimId> complete(List<ClaimId> claims, BooleanSupplier wanted) {
        List<ClaimEnd.Completed> completions = claims.stream()
                .map(claim -> new ClaimEnd.Completed(claim, null))
                .toList();
        return StoreCalls.untilAnsweredDespiteInterrupts(
                "Completing a batch that begins with",
                claims.get(0).key(),
                ClaimWriter.endlessPauses(),
                wanted,
                () -> store.end(completions));
    }

    /** Ties the caller's own transaction to a claim, once, as {@link ClaimWriter} does. */
    public boolean fence(ClaimId claim) {
        return store.fence(claim);
    }

    /** Releases claims; if the store does not answer, the ends of their leases do it. */
    public void release(List<ClaimEnd.Released> releases) {
        if (releases.isEmpty()) {
            return;
        }
        ClaimKey first = releases.get(0).claim().key();
        try {
            StoreCalls.untilAnswered(
                    "Releasing a batch that begins with",
                    first,
                    ClaimWriter.fewPauses(),
                    () -> true,
                    () -> store.end(releases));
        } catch (RuntimeException failure) {
            log.warn(
                    "Releasing {} claims, {} first, failed; their keys can be claimed again when their leases end",
                    releases.size(),
                    first,
                    failure);
        }
    }

    /** Parks claims; if the store does not answer, their leases end, and the keys are in doubt. */
    public void park(List<ClaimEnd.Parked> parkings) {
        if (parkings.isEmpty()) {
            return;
        }
        ClaimKey first = parkings.get(0).claim().key();
        try {
            Set<ClaimId> parked = StoreCalls.untilAnswered(
                    "Parking a batch that begins with",
                    first,
                    ClaimWriter.fewPauses(),
                    () -> true,
                    () -> store.end(parkings));
            parkings.stream()
                    .map(ClaimEnd.Parked::claim)
                    .filter(claim -> !parked.contains(claim))
                    .forEach(lost -> log.warn("{} is not parked: another worker took the key over", lost.key()));
        } catch (RuntimeException failure) {
            log.error(
                    "Parking {} claims, {} first, failed; their keys are in doubt when their leases end",
                    parkings.size(),
                    first,
                    failure);
        }
    }
}
