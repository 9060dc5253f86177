package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * What became of a batch's ends.
 *
 * @param recorded these are
 * @param unanswered of these it is not known; they can be tried again
 */
record Ended(Set<ClaimId> recorded, Set<ClaimId> unanswered) {

    static final Ended NOTHING = new Ended(Set.of(), Set.of());

    /** Of a call's answer, or of its failure. A failure that tells nothing of any end is passed on. */
    static Ended of(@Nullable Set<ClaimId> recorded, @Nullable Throwable failure) {
        if (failure == null) {
            return new Ended(Objects.requireNonNull(recorded), Set.of());
        }
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof ClaimsPartlyAnsweredException partly) {
            return new Ended(partly.granted(), partly.unanswered());
        }
        throw new CompletionException(cause);
    }

    ClaimBatch.Result with(ClaimBatch batch, Map<ClaimId, ClaimOutcome> outcomes) {
        return new ClaimBatch.Result(
                recorded,
                batch.claims().stream()
                        .map(request -> Objects.requireNonNull(outcomes.get(request.id())))
                        .toList(),
                unanswered);
    }
}
