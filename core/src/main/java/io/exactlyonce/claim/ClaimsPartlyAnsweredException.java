package io.exactlyonce.claim;

import io.exactlyonce.ClaimStoreException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Thrown if the store answered only a part of a call. The claims without an answer can be retried. */
public final class ClaimsPartlyAnsweredException extends ClaimStoreException {

    private final transient Set<ClaimId> unanswered;
    private final transient Set<ClaimId> granted;

    /**
     * Makes an exception.
     *
     * @param unanswered claims whose state is unknown
     * @param granted the call's result without the unanswered claims
     * @param cause why the first of them got no answer, if that is a failure
     */
    public ClaimsPartlyAnsweredException(
            String message, Set<ClaimId> unanswered, Set<ClaimId> granted, @Nullable Throwable cause) {
        super(null, null, message, cause);
        this.unanswered = Set.copyOf(unanswered);
        this.granted = Set.copyOf(granted);
    }

    /**
     * Returns the granted claims if all were answered.
     *
     * @throws ClaimsPartlyAnsweredException if some were not: another transaction locks their rows
     */
    public static Set<ClaimId> requireAll(Set<ClaimId> unanswered, Set<ClaimId> granted) {
        if (!unanswered.isEmpty()) {
            throw new ClaimsPartlyAnsweredException(
                    ("%d claims were not written, because a transaction locks their rows: retry them, and "
                                    + "keep transactions short")
                            .formatted(unanswered.size()),
                    unanswered,
                    granted,
                    null);
        }
        return granted;
    }

    /** Returns the claims whose state is unknown. */
    public Set<ClaimId> unanswered() {
        return unanswered;
    }

    /** Returns the call's result without the unanswered claims. */
    public Set<ClaimId> granted() {
        return granted;
    }
}
