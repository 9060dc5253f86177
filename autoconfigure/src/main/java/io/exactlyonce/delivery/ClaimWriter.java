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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Claims, completes and releases single keys, each with the patience that it deserves: a claim that gets no answer can
 * be given up, for nothing has happened yet; a completion cannot, for the effect has.
 */
public final class ClaimWriter {

    private static final Logger log = LoggerFactory.getLogger(ClaimWriter.class);

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;
    private static final int FEW = 2;

    private final ClaimStore store;

    public ClaimWriter(ClaimStore store) {
        this.store = store;
    }

    /**
     * Claims a key. A lost reply does no harm: the request is repeated with the same claim id, and finds its own claim.
     * When there is no answer at all, the claim that may stand all the same is given up, so that the next attempt neither
     * waits for its lease nor takes it for a crash.
     *
     * @throws RuntimeException if the store did not answer
     */
    public ClaimOutcome claim(ClaimRequest request) {
        return claim(request, fewPauses(), () -> true);
    }

    /** Does the same, and tries for as long as it is wanted. */
    public ClaimOutcome claim(ClaimRequest request, BooleanSupplier wanted) {
        return claim(request, endlessPauses(), wanted);
    }

    private ClaimOutcome claim(ClaimRequest request, BackOff pauses, BooleanSupplier wanted) {
        try {
            return StoreCalls.untilAnswered(
                    "Claiming",
                    request.key(),
                    pauses,
                    wanted,
                    () -> store.claim(List.of(request)).get(0));
        } catch (RuntimeException unanswered) {
            giveUp(request.id(), unanswered);
            throw unanswered;
        }
    }

    private void giveUp(ClaimId claim, RuntimeException unanswered) {
        try {
            store.end(List.of(new ClaimEnd.Released(claim, "the claim got no answer", false)));
        } catch (RuntimeException failure) {
            unanswered.addSuppressed(failure);
        }
    }

    /**
     * Completes a claim, and tries for as long as it is wanted.
     *
     * @return whether the completion is recorded; if not, the claim was lost
     * @throws RuntimeException if the store did not answer as long as it was wanted
     */
    public boolean complete(ClaimId claim, @Nullable String result, BooleanSupplier wanted) {
        try {
            return record(new ClaimEnd.Completed(claim, result), wanted);
        } catch (IllegalArgumentException unstorable) {
            log.warn("The result for {} cannot be stored; completing without it", claim.key(), unstorable);
            return record(new ClaimEnd.Completed(claim, null), wanted);
        }
    }

    private boolean record(ClaimEnd.Completed completion, BooleanSupplier wanted) {
        ClaimKey key = completion.claim().key();
        return StoreCalls.untilAnsweredDespiteInterrupts(
                        "Completing", key, endlessPauses(), wanted, () -> store.end(List.of(completion)))
                .contains(completion.claim());
    }

    /** Releases a claim; if the store does not answer, the end of the lease does it. */
    public void release(ClaimEnd.Released release) {
        ClaimKey key = release.claim().key();
        try {
            StoreCalls.untilAnswered("Releasing", key, fewPauses(), () -> true, () -> store.end(List.of(release)));
        } catch (RuntimeException failure) {
            log.warn("Releasing {} failed; the key can be claimed again when its lease ends", key, failure);
        }
    }

    /** Parks a claim; if the store does not answer, its lease ends, and the key is in doubt. */
    public void park(ClaimEnd.Parked parking) {
        ClaimKey key = parking.claim().key();
        try {
            Set<ClaimId> parked = StoreCalls.untilAnswered(
                    "Parking", key, fewPauses(), () -> true, () -> store.end(List.of(parking)));
            if (!parked.contains(parking.claim())) {
                log.warn("{} is not parked: another worker took the key over", key);
            }
        } catch (RuntimeException failure) {
            log.error("Parking {} failed; the key is in doubt when its lease ends", key, failure);
        }
    }

    /** Ties the caller's own transaction to a claim. It is tried once, for a failure is the end of that transaction. */
    public boolean fence(ClaimId claim) {
        return store.fence(claim);
    }

    static BackOff fewPauses() {
        ExponentialBackOff pauses = endlessPauses();
        pauses.setMaxAttempts(FEW);
        return pauses;
    }

    public static ExponentialBackOff endlessPauses() {
        ExponentialBackOff pauses = new ExponentialBackOff(FIRST_PAUSE_MILLIS, 2);
        pauses.setMaxInterval(LONGEST_PAUSE_MILLIS);
        pauses.setJitter(FIRST_PAUSE_MILLIS / 2);
        return pauses;
    }
}
