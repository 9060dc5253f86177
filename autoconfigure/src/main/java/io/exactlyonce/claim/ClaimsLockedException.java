package io.exactlyonce.claim;

import java.util.Set;

/**
 * Rows of claims stayed locked by another transaction for longer than a store waits: whether these claims still hold
 * their keys is not known before it ends. They can be tried again; the rest of the call is answered.
 */
public final class ClaimsLockedException extends ClaimsPartlyAnsweredException {

    /**
     * Makes an exception.
     *
     * @param locked nothing was written for these
     * @param granted what the call would have returned, had it been asked without the locked ones
     */
    public ClaimsLockedException(Set<ClaimId> locked, Set<ClaimId> granted) {
        super(
                ("%d claims were not written, since a transaction keeps their rows locked: try them again, and keep "
                                + "transactions short")
                        .formatted(locked.size()),
                locked,
                granted,
                null);
    }

    /**
     * Returns what was granted if nothing is locked.
     *
     * @throws ClaimsLockedException if something is
     */
    public static Set<ClaimId> requireNone(Set<ClaimId> locked, Set<ClaimId> granted) {
        if (!locked.isEmpty()) {
            throw new ClaimsLockedException(locked, granted);
        }
        return granted;
    }

    /** Returns the claims for which nothing was written. */
    public Set<ClaimId> locked() {
        return unanswered();
    }
}
