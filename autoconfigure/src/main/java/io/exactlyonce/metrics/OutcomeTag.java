package io.exactlyonce.metrics;

import io.exactlyonce.claim.ClaimOutcome;
import java.util.List;

/** Claim outcomes as values of a tag. */
final class OutcomeTag {

    private static final String ACQUIRED = "acquired";
    private static final String ALREADY_COMPLETED = "already_completed";
    private static final String MISMATCH = "mismatch";
    private static final String HELD_ELSEWHERE = "held_elsewhere";
    private static final String PARKED = "parked";

    static final List<String> ALL = List.of(ACQUIRED, ALREADY_COMPLETED, MISMATCH, HELD_ELSEWHERE, PARKED);

    private OutcomeTag() {}

    static String of(ClaimOutcome outcome) {
        return outcome.match(
                acquired -> ACQUIRED,
                completed -> ALREADY_COMPLETED,
                mismatch -> MISMATCH,
                held -> HELD_ELSEWHERE,
                parked -> PARKED);
    }
}
