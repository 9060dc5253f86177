package io.exactlyonce.claim;

import java.time.Duration;

/** What every lease must satisfy. */
final class Leases {

    private static final Duration SHORTEST = Duration.ofMillis(100);

    private Leases() {}

    static void requireValid(Duration lease) {
        if (lease.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("lease (%s) must be at least %s".formatted(lease, SHORTEST));
        }
    }
}
