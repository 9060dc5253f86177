package io.exactlyonce.claim.postgres;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Observes the deletion of expired claims. The deleting thread calls all methods. */
public interface RetentionObserver {

    /**
     * Called after each batch that was deleted.
     *
     * @param claims the number of deleted claims
     */
    default void deleted(int claims) {}

    /**
     * Called when a sweep of this instance has found no more expired claims.
     *
     * @param elapsed the duration of the sweep, pauses included
     */
    default void swept(Duration elapsed) {}

    /** Called when a sweep failed. The next sweep starts again with the oldest claims. */
    default void sweepFailed() {}

    /**
     * Called at the end of each sweep that did not fail, even if the sweep deleted nothing because another instance was
     * deleting.
     *
     * @param oldest the age of the row that expires next; {@code null} if no row can expire
     */
    default void surveyed(@Nullable Duration oldest) {}
}
