package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimTransaction;
import org.jspecify.annotations.Nullable;

/**
 * A listener's claim for a delivery.
 *
 * @param key the key to claim
 * @param payload the content to compare with other messages of the key, such as the body; {@code null} for nothing
 * @param doubt what to do with a key that must not simply be run again
 * @param transaction in which the handler runs together with its claim, if its effects are in the database
 */
public record ClaimSpec(
        ClaimKey key,
        @Nullable String payload,
        InDoubtSettings doubt,
        @Nullable ClaimTransaction transaction) {

    /** Of a handler whose effects are elsewhere. */
    public ClaimSpec(ClaimKey key, @Nullable String payload, InDoubtSettings doubt) {
        this(key, payload, doubt, null);
    }

    /** Contains only the key: payloads must not be logged. */
    @Override
    public String toString() {
        return key.toString();
    }
}
