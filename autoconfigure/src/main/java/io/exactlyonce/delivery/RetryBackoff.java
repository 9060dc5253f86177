package io.exactlyonce.delivery;

import io.exactlyonce.visibility.Subscription;
import java.time.Duration;

/**
 * How long a delivery that did not succeed stays invisible before the next attempt: doubled with each receive, with
 * jitter, so that messages which failed together do not come back together. Pure arithmetic.
 *
 * @param initial after the first receive
 * @param longest the bound, at most SQS's 12 h
 */
public record RetryBackoff(Duration initial, Duration longest) {

    /** Doublings beyond this one cannot matter: a second doubled so often is longer than 12 h. */
    private static final int MOST_DOUBLINGS = 16;

    /**
     * Returns the delay: between half of it and all of it by chance.
     *
     * @param receiveCount how often SQS has delivered the message, from 1
     * @param random from 0 inclusive to 1 exclusive
     */
    public Duration after(int receiveCount, double random) {
        int doublings = Math.min(Math.max(receiveCount - 1, 0), MOST_DOUBLINGS);
        double nanos = Math.min((double) initial.toNanos() * (1L << doublings), (double) longest.toNanos());
        return jittered(nanos, random);
    }

    /**
     * Returns the delay of a delivery that was not tried: a message must not end in the dead-letter queue only because
     * another delivery holds its key, or the store does not answer. The last receives that it has are kept as far apart as the bound
     * allows, and all of them last for as long as the holder's handler may run, if the listener has a timeout.
     *
     * @param random from 0 inclusive to 1 exclusive
     */
    public Duration sparing(Delivery delivery, double random) {
        Subscription subscription = delivery.subscription();
        Integer most = subscription.maxReceiveCount();
        if (most == null) {
            return after(delivery.receiveCount(), random);
        }
        Duration sparing = delivery.receiveCount() >= most - 1
                ? jittered((double) longest.toNanos(), random)
                : after(delivery.receiveCount(), random);
        Duration timeout = subscription.timeout();
        Duration share =
                timeout == null ? Duration.ZERO : timeout.dividedBy(Math.max(1, most - delivery.receiveCount() + 1));
        return sparing.compareTo(share) > 0 ? sparing : share;
    }

    private static Duration jittered(double nanos, double random) {
        return Duration.ofNanos((long) (nanos * (0.5 + random / 2)));
    }
}
