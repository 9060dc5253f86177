package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.dynamodb.request.WriteAnswer;
import io.exactlyonce.dynamodb.request.WriteAnswer.Again;
import io.exactlyonce.dynamodb.request.WriteAnswer.Differs;
import io.exactlyonce.dynamodb.request.WriteAnswer.Failed;
import io.exactlyonce.dynamodb.request.WriteAnswer.Taken;
import io.exactlyonce.dynamodb.request.WriteAnswer.Unstorable;
import io.exactlyonce.dynamodb.request.WriteAnswer.Written;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What became of renewals, or of ends. Used by one thread at a time. */
final class EndAnswers {

    private final Set<ClaimId> granted = new HashSet<>();
    private final Set<ClaimId> locked = new HashSet<>();
    private final Set<ClaimId> unanswered = new HashSet<>();
    private int lost;
    private @Nullable RuntimeException firstFailure;

    void add(ClaimId claim, WriteAnswer answer) {
        if (answer instanceof Written) {
            granted.add(claim);
        } else if (answer instanceof Differs || answer instanceof Taken) {
            lost++;
        } else if (answer instanceof Again again && again.isLocked()) {
            locked.add(claim);
        } else {
            unanswered.add(claim);
            firstFailure = firstFailure == null ? failure(answer) : firstFailure;
        }
    }

    private static RuntimeException failure(WriteAnswer answer) {
        if (answer instanceof Unstorable unstorable) {
            return new IllegalArgumentException("DynamoDB cannot store this result: " + unstorable.reason());
        }
        if (answer instanceof Failed failed) {
            return new ClaimStoreUnavailableException(
                    "DynamoDB did not answer: " + failed.failure().getMessage(), failed.failure());
        }
        return new ClaimStoreUnavailableException("DynamoDB did not take a write: " + ((Again) answer).reason(), null);
    }

    /** Returns the claims for which it has happened. Only with {@link #requireAnswers()} does that tell all. */
    Set<ClaimId> granted() {
        return granted;
    }

    /**
     * Returns the claims for which it has happened; the others are lost.
     *
     * @throws ClaimsPartlyAnsweredException if that is not known of some
     * @throws RuntimeException if it is not known of any
     */
    Set<ClaimId> requireAnswers() {
        RuntimeException failure = firstFailure;
        if (failure == null) {
            return ClaimsPartlyAnsweredException.requireAll(locked, granted);
        }
        if (granted.isEmpty() && locked.isEmpty() && lost == 0) {
            throw failure;
        }
        unanswered.addAll(locked);
        throw new ClaimsPartlyAnsweredException(
                "%d of %d claims got no answer: %s"
                        .formatted(unanswered.size(), unanswered.size() + granted.size() + lost, failure.getMessage()),
                unanswered,
                granted,
                failure);
    }
}
