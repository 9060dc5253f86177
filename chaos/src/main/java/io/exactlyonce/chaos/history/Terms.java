package io.exactlyonce.chaos.history;

import java.time.Duration;

/**
 * The time limits of a checker.
 *
 * @param drain the longest time from the last fault until all is done except for messages of listeners that call
 *     {@code once(..)}
 * @param longestDrain the longest time from the last fault until the system must have drained
 * @param recovery the longest time after the database serves again in which workers may still lose claims: their pools
 *     must detect it, and pending calls must time out
 * @param exposure how long before an asynchronous failover a commit may be lost: the replica's greatest lag at that
 *     time
 * @param repeatsWrites whether the claim store's client silently repeats a write whose reply is lost, as DynamoDB's
 *     client does
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
