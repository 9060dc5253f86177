package io.exactlyonce.audit;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The application's settings that the rules hold queues against.
 *
 * @param renews whether windows and leases are renewed
 * @param lease of claims; {@code null} for the window of each delivery
 * @param retention for how long a completed key is remembered
 * @param initialDelay until a message is visible again after its first failure
 * @param maxDelay the longest such time
 * @param connectionTimeout how long claims may wait for a connection, where the application chose that; {@code null} if not
 * @param opening how long it takes to open one
 */
public record AuditTerms(
        boolean renews,
        @Nullable Duration lease,
        Duration retention,
        Duration initialDelay,
        Duration maxDelay,
        @Nullable Duration connectionTimeout,
        Opening opening) {

    /** How long it takes to open a connection for claims, as was measured at the start. */
    public interface Opening {

        /** Returns how long; empty if it is not known, or if claims need none. */
        Optional<Duration> time();
    }

    /** Returns for how long, at least, attempts at a message go on before so many receives are used up. */
    Duration retriesLast(int maxReceiveCount) {
        Duration sum = Duration.ZERO;
        Duration delay = initialDelay;
        for (int receive = 1; receive < maxReceiveCount && sum.compareTo(Duration.ofDays(14)) < 0; receive++) {
            // A delay is shortened by up to a half by chance.
            sum = sum.plus(delay.dividedBy(2));
            delay = delay.multipliedBy(2).compareTo(maxDelay) < 0 ? delay.multipliedBy(2) : maxDelay;
        }
        return sum;
    }
}
