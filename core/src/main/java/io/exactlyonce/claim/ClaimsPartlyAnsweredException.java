package io.exactlyonce.claim;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A call of which the store answered a part. The claims without an answer can be tried again. */
public final class ClaimsPartlyAnsweredException extends RuntimeException {

    private final transient Set<ClaimId> unanswered;
    private final transient Set<ClaimId> granted;

    /**
     * Makes an exception.
     *
     * @param unanswered nothing is known of these
     * @param granted what the call would have returned, had it been asked without the unanswered ones
     * @param cause why the first of them got no answer, if that is a failure
     */
    public ClaimsPartlyAnsweredException(
            String message, Set<ClaimId> unanswered, Set<ClaimId> granted, @Nullable Throwable cause) {
        super(message, cause);
        this.unanswered = Set.copyOf(unanswered);
        this.granted = Set.copyOf(granted);
    }

    /**
     * Returns what was granted if all were answered.
     *
     * @throws ClaimsPartlyAnsweredException if some were not: another transaction keeps their rows locked
     */
    public static Set<ClaimId> requireAll(Set<ClaimId> unanswered, Set<ClaimId> granted) {
        if (!unanswered.isEmpty()) {
            throw new ClaimsPartlyAnsweredException(
                    ("%d claims were not written, since a transaction keeps their rows locked: try them again, and keep "
                                    + "transactions short")
                            .formatted(unanswered.size()),
                    unanswered,
                    granted,
                    null);
        }
        return granted;
    }

    /** Returns the claims of which nothing is known. */
    public Set<ClaimId> unanswered() {
        return unanswered;
    }

    /** Returns what the call would have returned, had it been asked without the unanswered ones. */
    public Set<ClaimId> granted() {
        return granted;
    }
}
