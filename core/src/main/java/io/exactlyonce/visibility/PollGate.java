package io.exactlyonce.visibility;

import java.time.Duration;

/** Says whether a listener may poll, by what became of claims on its claim path. By default it may, whatever becomes of them. */
@FunctionalInterface
public interface PollGate {

    /** Always open. */
    PollGate OPEN = () -> "claims";

    /** Returns the path by which the listener's claims are made: {@code claims}, or the name of a transaction manager. */
    String claimPath();

    /** A claim was answered on this path. */
    default void answered() {}

    /** A claim got no answer on this path. */
    default void unanswered(Throwable why) {}

    /** Returns whether claims get no answer on this path. */
    default boolean isPaused() {
        return false;
    }

    /** Returns whether the listener may poll: claims are answered, or it is time to find out. */
    default boolean permitsPolling() {
        return true;
    }

    /**
     * Waits until the listener may poll.
     *
     * @return whether it may
     */
    default boolean awaitPolling(Duration longest) throws InterruptedException {
        return true;
    }
}
