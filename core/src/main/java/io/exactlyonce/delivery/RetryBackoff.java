package io.exactlyonce.delivery;

import io.exactlyonce.time.Jitter;
import java.time.Duration;

/**
 * Computes how long a message stays invisible before its next attempt. The delay doubles with each receive. Jitter (a
 * random part) spreads the redeliveries of messages that failed together.
 *
 * @param initial the delay after the first receive
 * @param longest the largest delay, at most 12 h (the limit of SQS)
 * @param random the source of the jitter
 */
public record RetryBackoff(Duration initial, Duration longest, Jitter random) {

    /** Limit of doublings. After 16 of them, even a delay of one second has become more than 12 h. */
    private static final int MOST_DOUBLINGS = 16;

    /** If a key is parked, there is no delay between the final 10 receives before the dead-letter queue. */
    private static final int LAST_RECEIVES = 10;

    private static final Duration BETWEEN_RECEIVES = Duration.ofSeconds(1);

    public RetryBackoff(Duration initial, Duration longest) {
        this(initial, longest, Jitter.RANDOM);
    }

    /** Returns the delay after a failure: a random time between half of the full delay and all of it. */
    public Duration after(Delivery delivery) {
        return jittered(whole(delivery.receiveCount()));
    }

    /**
     * Returns the shortest delay that the jitter permits.
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
     * Returns the delay after a receive whose handler was not called (for example because another worker owns the key).
     * Such receives should not move the message to the dead-letter queue. So the largest delay follows each of the
     * final two receives before the dead-letter queue.
     *
     * <p>If the listener has a timeout, the owner's handler may run until this timeout. So the message does not reach
     * the dead-letter queue before the timeout has passed.
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
     * Returns the delay of a message whose key is parked. Only an operator can free the key, so the message should
     * reach the dead-letter queue soon. There is no delay between the final 10 receives before the dead-letter queue.
     * Earlier receives are one second apart, because a large {@code maxReceiveCount} would otherwise cause a hot loop.
     *
     * <p>The delay is the same as after a failure in two cases:
     * <ul>
     * <li>The queue has no dead-letter queue.
     * <li>SQS has delivered the message more than {@code maxReceiveCount} times (for example because the redrive policy
     * was just removed).
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
