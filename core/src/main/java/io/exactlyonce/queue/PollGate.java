package io.exactlyonce.queue;

import java.time.Duration;

/** Decides whether a listener may poll, by the outcomes of claims on its claim path. The default always permits polling. */
@FunctionalInterface
public interface PollGate {

    /** Always open. */
    PollGate OPEN = () -> "claims";

    /** Returns the listener's claim path: {@code claims}, or the name of a transaction manager. */
    String claimPath();

    /** A claim was answered on this path. */
    default void answered() {}

    /** A claim got no answer on this path. */
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
