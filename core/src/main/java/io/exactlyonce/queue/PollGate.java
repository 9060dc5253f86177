package io.exactlyonce.queue;

import java.time.Duration;

/**
 * Decides whether a listener may poll: polls pause while claims on the listener's claim path get no answer. The default
 * methods always permit polling.
 */
@FunctionalInterface
public interface PollGate {

    /** Permits every poll. */
    PollGate OPEN = () -> "claims";

    /** Returns the path of the listener's claims: {@code claims}, or the name of a transaction manager. */
    String claimPath();

    /** Called when a claim on this path got an answer. */
    default void answered() {}

    /** Called when a claim on this path got no answer. */
    default void unanswered(Throwable why) {}

    /** Returns whether polls are paused, because claims on this path get no answer. */
    default boolean isPaused() {
        return false;
    }

    /**
     * Returns whether the listener may poll now. Returns true while claims are answered. While polls are paused,
     * returns true for a trial poll that is due. The messages of a trial poll test whether claims are answered again.
     */
    default boolean permitsPolling() {
        return true;
    }

    /**
     * Waits until the listener may poll.
     *
     * @param longest the longest wait
     * @return whether the listener may poll; false if the wait ended first
     */
    default boolean awaitPolling(Duration longest) throws InterruptedException {
        return true;
    }
}
