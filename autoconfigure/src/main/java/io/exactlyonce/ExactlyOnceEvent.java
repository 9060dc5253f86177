package io.exactlyonce;

import java.time.Duration;

/**
 * What the application may want to react to; published as an application event, so that {@code @EventListener} methods get it.
 * They are called on a thread of their own, one event after the other; beyond a thousand that wait, events are dropped.
 */
public sealed interface ExactlyOnceEvent {

    /** Returns the listener's id. */
    String listener();

    /** Returns the queue's name. */
    String queue();

    /** A message whose key is completed was not handled again. */
    record DuplicateSuppressed(String listener, String queue) implements ExactlyOnceEvent {}

    /**
     * A key was claimed in doubt: its earlier attempt vanished, or was stopped, and may have had effects.
     *
     * @param attempt the number of this attempt, from 2
     */
    record TakenOver(String listener, String queue, int attempt) implements ExactlyOnceEvent {}

    /** A lease ended while its handler ran, and is renewed no more: the handler was stopped, its effect is in doubt. */
    record ClaimLost(String listener, String queue) implements ExactlyOnceEvent {}

    /** A message has met a key that waits for a person's decision. */
    record KeyParked(String listener, String queue) implements ExactlyOnceEvent {}

    /**
     * Deliveries outlast their window; told once, and again only after a recovery.
     *
     * @param p95 of recent deliveries
     * @param window the visibility window
     */
    record WindowBreached(String listener, String queue, Duration p95, Duration window) implements ExactlyOnceEvent {}
}
