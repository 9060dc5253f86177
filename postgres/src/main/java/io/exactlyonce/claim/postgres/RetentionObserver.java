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
     * Called when this instance has deleted all expired claims.
     *
     * @param elapsed the duration of the sweep, pauses included
     */
    default void swept(Duration elapsed) {}

    /** Called when a sweep failed. The next sweep starts anew. */
    default void sweepFailed() {}

    /**
     * Called after each sweep, even if another instance deletes.
     *
     * @param oldest time since the claim of the row that expires next, or {@code null} if there is none
     */
    default void surveyed(@Nullable Duration oldest) {}
}
