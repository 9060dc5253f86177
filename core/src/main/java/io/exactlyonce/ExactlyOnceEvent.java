package io.exactlyonce;

import java.time.Duration;

/**
 * What the application may want to react to; published as an application event, so that {@code @EventListener} methods get it.
 * They are called on one thread of ours, one event after the other: a listener that blocks delays the other events, and no
 * delivery; beyond a thousand that wait, events are dropped. Hand longer work to a thread of your own.
 *
 * <p>Keys may be personal data: events have the first 16 digits of the SHA-256 of scope and key, as the engine's log lines and
 * the MDC do.
 */
public sealed interface ExactlyOnceEvent {

    /** Returns the listener's id. */
    String listener();

    /** Returns the queue's name. */
    String queue();

    /**
     * A message whose key is completed was not handled again.
     *
     * @param key hashed
     */
    record DuplicateSuppressed(String listener, String queue, String key) implements ExactlyOnceEvent {}

    /**
     * A key was claimed in doubt: its earlier attempt vanished, or was stopped, and may have had effects.
     *
     * @param key hashed
     * @param attempt the number of this attempt, from 2
     */
    record TakenOver(String listener, String queue, String key, int attempt) implements ExactlyOnceEvent {}

    /**
     * A lease ended while its handler ran, and is renewed no more: the handler was stopped, its effect is in doubt.
     *
     * @param key hashed
     */
    record ClaimLost(String listener, String queue, String key) implements ExactlyOnceEvent {}

    /**
     * A key waits for a person's decision: it was parked just now, or another message has met it.
     *
     * @param key hashed
     */
    record KeyParked(String listener, String queue, String key) implements ExactlyOnceEvent {}

    /**
     * Latency grows, and p95 is expected to reach the window. Published at most twice until there was a recovery: when that is less
     * than 12 minutes ahead, and when p95 is above 80 % of the window.
     *
     * @param p95 of recent deliveries
     * @param window the visibility timeout
     * @param timeToBreach until p95 reaches it, if it goes on to grow as it does
     */
    record WindowBreachAhead(String listener, String queue, Duration p95, Duration window, Duration timeToBreach)
            implements ExactlyOnceEvent {}

    /**
     * Deliveries outlast their window; told once, and again only after a recovery.
     *
     * @param p95 of recent deliveries
     * @param window the visibility window
     */
    record WindowBreached(String listener, String queue, Duration p95, Duration window) implements ExactlyOnceEvent {}
}
