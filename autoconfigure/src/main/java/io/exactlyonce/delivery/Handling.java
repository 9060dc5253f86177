package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import org.jspecify.annotations.Nullable;

/**
 * What a listener asks for with a delivery.
 *
 * @param key the key to claim
 * @param payload the message's body as SQS delivered it, or {@code null} if it is not to be compared
 * @param doubt what to do with a key that must not simply be run again
 */
public record Handling(ClaimKey key, @Nullable String payload, DoubtPolicy doubt) {

    /** Names the key only: a payload is no business of a log's. */
    @Override
    public String toString() {
        return key.toString();
    }
}
