package io.exactlyonce.queue;

import java.time.Duration;

/**
 * Decides whether a listener may poll. While the claim store does not answer, the listener pauses its polls, because it
 * could not handle messages. The default methods always permit polling.
 */
@FunctionalInterface
public interface PollGate {

    /** Permits every poll. */
    PollGate OPEN = () -> "claims";

    /**
     * Returns how the listener claims keys: {@code claims} if it calls the claim store directly, or else the name of
     * the transaction manager in whose transactions it claims keys. Listeners whose gates return the same text pause
     * together.
     */
    String claimPath();

    /** Called when the store has answered a claim. */
    default void answered() {}

    /** Called when the store has not answered a claim. */
    default void unanswered(Throwable why) {}

    /** Returns whether polls are paused, because the store does not answer claims. */
    default boolean isPaused() {
        return false;
    }

    /**
     * Returns whether the listener may poll now. While polls are paused, a trial poll is permitted from time to time.
     * Its messages test whether the store answers claims again.
     */
    default boolean permitsPolling() {
        return true;
    }

    /**
     * Waits until the listener may poll.
     *
     * @param longest limit of the wait
     * @return whether the listener may poll; false if the wait timed out
     */
    default boolean awaitPolling(Duration longest) throws InterruptedException {
        return true;
    }
}
