package io.exactlyonce.listener.observed;

import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.sighting.Observation;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A handler that was called with messages: one, or those of a batch.
 *
 * @param observations of each message, in their order
 * @param tellsItsEnd whether a handler that returns has done its work
 */
record HandlerCall(List<Observation> observations, boolean tellsItsEnd) {

    /** Bounds the causes, since they may form a circle. */
    private static final int MOST_CAUSES = 20;

    /** Of a batch, a handler may name what has failed: the others' effects have happened, though awspring redelivers all. */
    void ended(@Nullable Throwable failure) {
        if (failure == null && !tellsItsEnd) {
            observations.forEach(observation -> observation.ended(unknownEnd()));
            return;
        }
        Map<Integer, Throwable> named = named(failure);
        for (int index = 0; index < observations.size(); index++) {
            observations.get(index).ended(named.isEmpty() ? failure : named.get(index));
        }
    }

    /** Whether the work is done is not known: the key must not be taken for completed. */
    private static Throwable unknownEnd() {
        return new IllegalStateException("The handler returned, and its work may be undone");
    }

    private Map<Integer, Throwable> named(@Nullable Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .limit(MOST_CAUSES)
                .filter(BatchItemFailures.class::isInstance)
                .map(cause -> ((BatchItemFailures) cause).failures())
                .filter(failures -> failures.keySet().stream().allMatch(index -> index < observations.size()))
                .findFirst()
                .orElse(Map.of());
    }
}
