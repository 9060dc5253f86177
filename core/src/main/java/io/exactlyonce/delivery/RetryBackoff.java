package io.exactlyonce.delivery;

import io.exactlyonce.time.Jitter;
import java.time.Duration;

/**
 * Computes how long a delivery that did not succeed stays invisible before the next attempt. The delay doubles with
 * each receive. A random part, the jitter, spreads the redeliveries of messages that failed together. Has no side
 * effects.
 *
 * @param initial the delay after the first receive
 * @param longest the largest delay, at most SQS's 12 h
 * @param random determines the jitter
 */
public record RetryBackoff(Duration initial, Duration longest, Jitter random) {

    /** Largest number of doublings. After 16 doublings, even an initial delay of one second is longer than 12 h. */
    private static final int MOST_DOUBLINGS = 16;

    /** If a key is parked, so many of the message's last receives follow each other without a delay. */
    private static final int LAST_RECEIVES = 10;

    private static final Duration BETWEEN_RECEIVES = Duration.ofSeconds(1);

    public RetryBackoff(Duration initial, Duration longest) {
        this(initial, longest, Jitter.RANDOM);
    }

    /**
     * Returns the delay of a delivery that failed, which jitter shortens to between half of the full delay and all of
     * it.
     */
    public Duration after(Delivery delivery) {
        return jittered(whole(delivery.receiveCount()));
    }

    /**
     * Returns the shortest delay that jitter can produce.
     *
     * @param receiveCount how often SQS has delivered the message, from 1
     */
    public Duration least(int receiveCount) {
        return Duration.ofNanos((long) (whole(receiveCount) / 2));
    }

    private double whole(int receiveCount) {
        int doublings = Math.min(Math.max(receiveCount - 1, 0), MOST_DOUBLINGS);
        return Math.min((double) initial.toNanos() * (1L << doublings), (double) longest.toNanos());
    }

    /**
     * Returns the delay of a delivery whose handler was not called. A message must not move to the dead-letter queue
     * only because another delivery owns its key, or because the store does not answer. So the largest delay precedes
     * each of its last receives.
     *
     * <p>If the listener has a timeout, the remaining delays together are at least as long as the timeout, because the
     * owner's handler may run for this time.
     */
    public Duration sparing(Delivery delivery) {
        Integer most = delivery.settings().maxReceiveCount();
        if (most == null) {
            return after(delivery);
        }
        Duration sparing = delivery.receiveCount() >= most - 1 ? jittered((double) longest.toNanos()) : after(delivery);
        Duration timeout = delivery.subscription().timeout();
        Duration share =
                timeout == null ? Duration.ZERO : timeout.dividedBy(Math.max(1, most - delivery.receiveCount() + 1));
        return sparing.compareTo(share) > 0 ? sparing : share;
    }

    /**
     * Returns the delay of a delivery whose key is parked. No attempt can succeed before an operator decides, so the
     * message is to reach the dead-letter queue soon. The last receives follow each other without a delay. Earlier
     * receives follow after a second, because with a large {@code maxReceiveCount} the listener would otherwise receive
     * the message in a hot loop.
     *
     * <p>In two cases, the delay is the one after a failure:
     * <ul>
     * <li>The queue has no dead-letter queue.
     * <li>The message was received too often, and its queue has not moved it, for example because the redrive policy
     * was just removed.
     * </ul>
     */
    public Duration parked(Delivery delivery) {
        Integer most = delivery.settings().maxReceiveCount();
        int left = most == null ? -1 : most - delivery.receiveCount();
        return left < 0 ? after(delivery) : left < LAST_RECEIVES ? Duration.ZERO : BETWEEN_RECEIVES;
    }

    private Duration jittered(double nanos) {
        return Duration.ofNanos((long) (nanos * (0.5 + random.next() / 2)));
    }
}
