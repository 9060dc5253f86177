package io.exactlyonce.sighting;

import io.exactlyonce.claim.ClaimKey;
import org.jspecify.annotations.Nullable;

/**
 * Learns what is seen of listeners that are observed. Some calls come on handlers' threads, so that none may block. What it throws
 * is logged and disturbs nothing.
 */
public interface SightingObserver {

    /** A listener is observed from its next start on. */
    default void observing(ObservedQueue queue) {}

    /** A delivery was observed. */
    default void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {}

    /**
     * A delivery was not observed, or its end was not.
     *
     * @param failure why, if something failed
     */
    default void unobserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {}
}
