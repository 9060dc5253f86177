package io.exactlyonce.observed;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.ListenerQueue;
import org.jspecify.annotations.Nullable;

/**
 * Counts observations of listeners. {@link #notObserved} must not block, because it may be called on a handler's
 * thread. If a method throws an exception, the exception is logged, and handlers are not affected.
 */
public interface ObservationCounter {

    /** Called when a listener was set up in observe mode. The listener is observed from its next start on. */
    default void observing(ListenerQueue queue) {}

    /** Called when a delivery was observed. */
    default void observed(ListenerQueue queue, ClaimKey key, ObservedOutcome outcome) {}

    /**
     * Called when a delivery, or its end, could not be observed.
     *
     * @param failure the exception that prevented the observation; {@code null} if there is none
     */
    default void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {}

    /** Called when the claim store could not be used. */
    default void unavailable(RuntimeException failure) {}
}
