package io.exactlyonce;

import java.time.Duration;

/**
 * An application event for {@code @EventListener} methods. One thread of the library publishes the events one after the
 * other. An {@code @EventListener} method that blocks delays other events, but no delivery, so run longer work on your
 * own thread. While a thousand events wait, further events are dropped.
 *
 * <p>Future versions may add kinds of events, so code that distinguishes kinds should ignore unknown ones.
 *
 * <p>Events contain {@link Claim#keyHash()} instead of the key, because keys may be personal data.
 */
public interface ExactlyOnceEvent {

    /** Returns the listener's id. */
    String listener();

    /** Returns the queue's name. */
    String queue();

    /**
     * A message was not handled again, because its key is completed.
     *
     * @param keyHash the key's {@link Claim#keyHash()}
     */
    record DuplicateSuppressed(String listener, String queue, String keyHash) implements ExactlyOnceEvent {}

    /**
     * A delivery claimed a key that is in doubt, because an earlier attempt died or was stopped, and may have had
     * effects.
     *
     * @param keyHash the key's {@link Claim#keyHash()}
     * @param attempt the number of the new attempt, from 2
     */
    record TakenOver(String listener, String queue, String keyHash, int attempt) implements ExactlyOnceEvent {}

    /**
     * A claim was lost while its handler ran: its lease expired, or another worker took the key over. The handler was
     * interrupted, and its effect is in doubt.
     *
     * @param keyHash the key's {@link Claim#keyHash()}
     */
    record ClaimLost(String listener, String queue, String keyHash) implements ExactlyOnceEvent {}

    /**
     * A handler ran longer than its listener's timeout and was interrupted. Its message and claim are no longer
     * renewed. If the handler does not complete after that, the next attempt is in doubt. For a batch, one event is
     * published for each message.
     *
     * @param keyHash the key's {@link Claim#keyHash()}. If the message has no key (see {@link
     *     MissingKeyPolicy#RUN_UNPROTECTED}), a hash of the message's id
     * @param timeout the listener's timeout
     */
    record HandlerTimedOut(String listener, String queue, String keyHash, Duration timeout)
            implements ExactlyOnceEvent {}

    /**
     * A key waits for an operator's decision: the key was just parked, or another message of the parked key arrived.
     *
     * @param keyHash the key's {@link Claim#keyHash()}
     */
    record KeyParked(String listener, String queue, String keyHash) implements ExactlyOnceEvent {}

    /**
     * Deliveries take almost as long as the visibility timeout: the 95th percentile of recent latencies is above 80 %
     * of the timeout. The event is not repeated until the percentile has fallen below 70 %.
     *
     * @param p95 the 95th percentile of the latencies of recent deliveries
     * @param window the visibility timeout
     */
    record WindowNear(String listener, String queue, Duration p95, Duration window) implements ExactlyOnceEvent {}

    /**
     * Deliveries take longer than the visibility timeout: the 95th percentile of recent latencies is above the timeout.
     * The event is not repeated until the percentile has fallen below 70 % of the timeout.
     *
     * @param p95 the 95th percentile of the latencies of recent deliveries
     * @param window the visibility timeout
     */
    record WindowBreached(String listener, String queue, Duration p95, Duration window) implements ExactlyOnceEvent {}

    /**
     * An attempt failed on the last receive of its message, so the queue moves the message to its dead-letter queue. If
     * the attempt parked its key, a {@link KeyParked} event is published as well.
     *
     * @param keyHash the key's {@link Claim#keyHash()}. If the message has no key (see {@link
     *     MissingKeyPolicy#RUN_UNPROTECTED}), a hash of the message's id
     * @param receiveCount how often SQS has delivered the message
     * @param maxReceiveCount the {@code maxReceiveCount} of the queue's redrive policy
     * @param deadLetterQueue the name of the dead-letter queue, or {@code unknown}
     */
    record LastReceiveFailed(
            String listener,
            String queue,
            String keyHash,
            int receiveCount,
            int maxReceiveCount,
            String deadLetterQueue)
            implements ExactlyOnceEvent {}
}
