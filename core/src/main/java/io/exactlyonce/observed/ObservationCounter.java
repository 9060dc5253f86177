package io.exactlyonce.observed;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.ListenerQueue;
import org.jspecify.annotations.Nullable;

/**
 * Counts observations of listeners. {@link #notObserved} may be called on handlers' threads, so it must not block. An
 * exception is logged, and disturbs no handler.
 */
public interface ObservationCounter {

    /** A listener is observed from its next start on. */
    default void observing(ListenerQueue queue) {}

    /** A delivery was observed. */
    default void observed(ListenerQueue queue, ClaimKey key, ObservedOutcome outcome) {}

    /**
     * A delivery, or its end, was not observed.
     *
     * @param failure the failure that prevented the observation, if any
     */
    default void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {}

    /** Claims cannot be stored now. */
    default void unavailable(RuntimeException failure) {}
}
