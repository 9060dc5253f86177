package io.exactlyonce.claim.postgres;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Learns of the deletion of expired claims. Called by the thread that deletes. */
public interface RetentionObserver {

    /** Called after each batch of claims that was deleted. */
    default void deleted(int claims) {}

    /** Called when this instance has deleted all that was expired, pauses included. */
    default void swept(Duration elapsed) {}

    /** Called when a sweep failed. The next one replaces it. */
    default void sweepFailed() {}

    /**
     * Called after each sweep, also if another instance deleted.
     *
     * @param oldest time since the oldest claim that will expire, or {@code null} if there is none
     */
    default void surveyed(@Nullable Duration oldest) {}
}
