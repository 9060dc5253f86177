package io.exactlyonce.claim;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A store's answers to renewals or resolutions of claims. A claim that is neither granted nor unanswered is lost: it no
 * longer holds its key.
 *
 * @param granted the claims whose renewal or resolution is stored
 * @param unanswered the claims without an answer, for example because another transaction locks their rows. These
 *     claims may still hold their keys, and the call can be repeated for them
 * @param failure why the first unanswered claim got no answer. {@code null} if another transaction locks the claim's
 *     row, or if all claims are answered
 */
public record ClaimAnswers(
        Set<ClaimId> granted,
        Set<ClaimId> unanswered,
        @Nullable RuntimeException failure) {

    /** Makes answers without unanswered claims. */
    public ClaimAnswers(Set<ClaimId> granted) {
        this(granted, Set.of(), null);
    }

    /** Returns why claims got no answer. */
    public String reason() {
        boolean isOne = unanswered.size() == 1;
        return "%d %s got no answer: %s"
                .formatted(
                        unanswered.size(),
                        isOne ? "claim" : "claims",
                        failure == null
                                ? "another transaction locks %s; repeat the call, and keep transactions short"
                                        .formatted(isOne ? "it" : "them")
                                : failure.getMessage());
    }

    /**
     * Returns the granted claims if all claims are answered.
     *
     * @throws ClaimStoreUnavailableException if some claims are not answered; the call can be repeated
     */
    public Set<ClaimId> requireAll() {
        if (!unanswered.isEmpty()) {
            throw new ClaimStoreUnavailableException(reason(), failure);
        }
        return granted;
    }
}
