package io.exactlyonce.delivery;

import io.exactlyonce.time.Jitter;
import java.time.Duration;

/**
 * Computes how long a delivery that did not succeed stays invisible before the next attempt. Each receive doubles the
 * delay, with jitter, so that messages that failed together are not redelivered together. Without side effects.
 *
 * @param initial the delay after the first receive
 * @param longest the largest delay, at most SQS's 12 h
 * @param random spreads the delays
 */
public record RetryBackoff(Duration initial, Duration longest, Jitter random) {

    /** Largest number of doublings: with more, even a delay of a second would be longer than 12 h. */
    private static final int MOST_DOUBLINGS = 16;

    /** How many of the last receives of a message with a parked key may follow each other immediately. */
    private static final int LAST_RECEIVES = 10;

    private static final Duration BETWEEN_RECEIVES = Duration.ofSeconds(1);

    public RetryBackoff(Duration initial, Duration longest) {
        this(initial, longest, Jitter.RANDOM);
    }

    /** Returns the delay of a delivery that failed: a random part of the full delay, at least half of it. */
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
     * Returns the delay of a delivery that was not tried. A message must not end in the dead-letter queue only because
     * another delivery owns its key, or because the store does not answer. So its last receives are as far apart as the
     * largest delay permits. If the listener has a timeout, these receives together last at least as long as the
     * owner's handler may run.
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
     * Returns the delay of a delivery whose key is parked, so that its queue soon moves the message to its dead-letter
     * queue: no receive can succeed before an operator decides. The last receives follow each other immediately.
     * Earlier receives follow after a second, so that a large {@code maxReceiveCount} makes no hot loop.
     *
     * <p>A queue without a dead-letter queue gets the message back as after a failure. So does a queue that has not
     * moved a message which was received too often, for example because its redrive policy was just removed.
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
