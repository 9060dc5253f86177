package io.exactlyonce.claim;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A store's answers to renewals or resolutions of claims. A claim that is in neither set is lost: it no longer holds
 * its key.
 *
 * @param granted the claims whose renewal or resolution is stored
 * @param unanswered the claims that got no answer, for example because another transaction locks their rows. They may
 *     still hold their keys, so the caller can repeat the call for them
 * @param failure the store's failure that left claims without an answer; {@code null} if there was no failure. Without
 *     a failure, claims are unanswered only because other transactions lock their rows
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
     * Returns the granted claims. Throws if any claim got no answer.
     *
     * @throws ClaimStoreUnavailableException if some claims are unanswered; the call can be repeated
     */
    public Set<ClaimId> requireAll() {
        if (!unanswered.isEmpty()) {
            throw new ClaimStoreUnavailableException(reason(), failure);
        }
        return granted;
    }
}
