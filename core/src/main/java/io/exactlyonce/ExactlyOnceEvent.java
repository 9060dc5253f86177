package io.exactlyonce;

import java.time.Duration;

/**
 * An application event for {@code @EventListener} methods. One thread of the library publishes the events in sequence:
 * a listener that blocks delays other events, but no delivery. If a thousand events wait, further ones are dropped. Run
 * longer work on your own thread.
 *
 * <p>New kinds of events may follow, so code that distinguishes events ignores those it does not know.
 *
 * <p>Keys may be personal data, so events contain {@link Claim#keyHash()}, like log lines, the MDC and exceptions.
 */
public interface ExactlyOnceEvent {

    /** Returns the listener's id. */
    String listener();

    /** Returns the queue's name. */
    String queue();

    /**
     * A message whose key is completed was not handled again.
     *
     * @param keyHash the key's {@link Claim#keyHash()}
     */
    record DuplicateSuppressed(String listener, String queue, String keyHash) implements ExactlyOnceEvent {}

    /**
     * A key was claimed in doubt: an earlier attempt died or was stopped, and may have had effects.
     *
     * @param keyHash the key's {@link Claim#keyHash()}
     * @param attempt the number of this attempt, from 2
     */
    record TakenOver(String listener, String queue, String keyHash, int attempt) implements ExactlyOnceEvent {}

    /**
     * A lease expired while its handler ran: the handler was stopped, and its effect is in doubt.
     *
     * @param keyHash the key's {@link Claim#keyHash()}
     */
    record ClaimLost(String listener, String queue, String keyHash) implements ExactlyOnceEvent {}

    /**
     * A handler ran longer than its listener's timeout and was interrupted. Message and claim are no longer renewed,
     * and the next attempt is in doubt unless this handler still completes. A batch has one event for each message.
     *
     * @param keyHash the key's {@link Claim#keyHash()}; without a key, with {@link
     *     MissingKeyPolicy#RUN_UNPROTECTED}, a hash of the message's id
     * @param timeout of the listener
     */
    record HandlerTimedOut(String listener, String queue, String keyHash, Duration timeout)
            implements ExactlyOnceEvent {}

    /**
     * A key waits for an operator's decision: it was just parked, or another of its messages arrived.
     *
     * @param keyHash the key's {@link Claim#keyHash()}
     */
    record KeyParked(String listener, String queue, String keyHash) implements ExactlyOnceEvent {}

    /**
     * p95 latency is above 80 % of the visibility timeout. Published once before a recovery.
     *
     * @param p95 of recent deliveries
     * @param window the visibility timeout
     */
    record WindowNear(String listener, String queue, Duration p95, Duration window) implements ExactlyOnceEvent {}

    /**
     * Deliveries take longer than their visibility timeout. Published once before a recovery.
     *
     * @param p95 of recent deliveries
     * @param window the visibility timeout
     */
    record WindowBreached(String listener, String queue, Duration p95, Duration window) implements ExactlyOnceEvent {}

    /**
     * An attempt failed on the last receive of its message, and the queue moves the message to its dead-letter queue. A
     * key that the attempt has parked has {@link KeyParked} as well.
     *
     * @param keyHash the key's {@link Claim#keyHash()}; without a key, with {@link
     *     MissingKeyPolicy#RUN_UNPROTECTED}, a hash of the message's id
     * @param receiveCount how often SQS has delivered the message
     * @param maxReceiveCount of the queue's redrive policy
     * @param deadLetterQueue the name of the dead-letter queue
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
