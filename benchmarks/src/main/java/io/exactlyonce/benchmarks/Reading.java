package io.exactlyonce.benchmarks;

import java.util.Map;

/**
 * What a contestant reached in a turn.
 *
 * @param value what contestants are compared by: most often units of work per second
 * @param figures further ones, by the heads of their columns
 */
public record Reading(double value, Map<String, Double> figures) {

    /** Returns one without further figures. */
    public static Reading of(double value) {
        return new Reading(value, Map.of());
    }
}
