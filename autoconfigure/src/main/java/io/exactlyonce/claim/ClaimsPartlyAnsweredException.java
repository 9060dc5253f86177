package io.exactlyonce.claim;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A call of which the store answered a part. The claims without an answer can be tried again. */
public class ClaimsPartlyAnsweredException extends RuntimeException {

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

    /** Returns the claims of which nothing is known. */
    public Set<ClaimId> unanswered() {
        return unanswered;
    }

    /** Returns what the call would have returned, had it been asked without the unanswered ones. */
    public Set<ClaimId> granted() {
        return granted;
    }
}
