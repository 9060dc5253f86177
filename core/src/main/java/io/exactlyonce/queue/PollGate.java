package io.exactlyonce.queue;

import java.time.Duration;

/**
 * Decides whether a listener may poll, by the outcomes of claims on its claim path. The default always permits polling.
 */
@FunctionalInterface
public interface PollGate {

    /** Permits every poll. */
    PollGate OPEN = () -> "claims";

    /** Returns the listener's claim path: {@code claims}, or the name of a transaction manager. */
    String claimPath();

    /** Called when a claim on this path was answered. */
    default void answered() {}

    /** Called when a claim on this path got no answer. */
    default void unanswered(Throwable why) {}

    /** Returns whether claims on this path get no answer. */
    default boolean isPaused() {
        return false;
    }

    /** Returns whether the listener may poll: claims are answered, or the next poll is due as a test. */
    default boolean permitsPolling() {
        return true;
    }

    /**
     * Waits until the listener may poll.
     *
     * @return whether the listener may poll
     */
    default boolean awaitPolling(Duration longest) throws InterruptedException {
        return true;
    }
}
