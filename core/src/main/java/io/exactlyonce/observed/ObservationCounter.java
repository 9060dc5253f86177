package io.exactlyonce.observed;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.ListenerQueue;
import org.jspecify.annotations.Nullable;

/**
 * Counts what observe mode finds. {@link #notObserved} must not block, because handlers' threads may call it.
 * Exceptions of these methods are logged, and do not affect handlers.
 */
public interface ObservationCounter {

    /** Called when a listener was set up in observe mode. Observation begins when the listener starts. */
    default void observing(ListenerQueue queue) {}

    /** Called when a delivery was observed. */
    default void observed(ListenerQueue queue, ClaimKey key, ObservedOutcome outcome) {}

    /**
     * Called when the start or the end of a handler could not be observed.
     *
     * @param failure {@code null} if no exception is the reason
     */
    default void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {}

    /** Called when the claim store failed, or was not ready. */
    default void unavailable(RuntimeException failure) {}
}
