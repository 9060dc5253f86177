package io.exactlyonce.delivery;

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
     * another delivery holds its key. The last receives that it has are kept as far apart as the bound allows.
     *
     * @param maxReceiveCount after how many receives SQS moves the message to the dead-letter queue
     */
    Duration sparing(int receiveCount, int maxReceiveCount, double random) {
        return receiveCount >= maxReceiveCount - 1
                ? jittered((double) longest.toNanos(), random)
                : after(receiveCount, random);
    }

    private static Duration jittered(double nanos, double random) {
        return Duration.ofNanos((long) (nanos * (0.5 + random / 2)));
    }
}
