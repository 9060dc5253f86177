package io.exactlyonce.audit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The application's settings that the rules hold queues against.
 *
 * @param renews whether windows and leases are renewed
 * @param lease of claims; {@code null} for the window of each delivery
 * @param retention for how long a completed key is remembered
 * @param initialDelay until a message is visible again after its first failure
 * @param maxDelay the longest such time
 * @param connectionTimeout how long the application's pool makes claims wait for a connection; {@code null} if claims have their own
 */
public record AuditTerms(
        boolean renews,
        @Nullable Duration lease,
        Duration retention,
        Duration initialDelay,
        Duration maxDelay,
        @Nullable Duration connectionTimeout) {

    /** Terms of claims that have their own pool, or need none. */
    public AuditTerms(
            boolean renews, @Nullable Duration lease, Duration retention, Duration initialDelay, Duration maxDelay) {
        this(renews, lease, retention, initialDelay, maxDelay, null);
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
