package io.exactlyonce.chaos.history;

import java.time.Duration;

/**
 * Times by which a checker judges.
 *
 * @param drain longest time from the last fault until all is done but what {@code execute} holds
 * @param longestDrain longest time from the last fault until the system must have drained
 * @param recovery longest time after the database serves again for which workers may still lose claims: until their
 *     pools have noticed, and what is on its way has timed out
 * @param exposure how long before an asynchronous failover a commit may be one that the failover forgets: the
 *     replica's greatest lag at that time
 * @param repeatsWrites whether the claim store's client repeats a write whose reply is lost without a word, as DynamoDB's does
 */
public record Terms(
        Duration drain, Duration longestDrain, Duration recovery, Duration exposure, boolean repeatsWrites) {

    public Terms {
        if (drain.isNegative() || recovery.isNegative() || exposure.isNegative()) {
            throw new IllegalArgumentException(
                    "Times must not be negative: %s, %s, %s".formatted(drain, recovery, exposure));
        }
        if (longestDrain.compareTo(drain) < 0) {
            throw new IllegalArgumentException(
                    "All cannot be done after %s if most may take %s".formatted(longestDrain, drain));
        }
    }
}
