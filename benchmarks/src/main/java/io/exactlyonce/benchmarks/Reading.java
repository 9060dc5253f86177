package io.exactlyonce.benchmarks;

import java.util.Map;

/**
 * The result of a contestant's turn.
 *
 * @param value the value for comparing contestants, usually units of work per second
 * @param figures additional figures by column heading
 */
public record Reading(double value, Map<String, Double> figures) {

    /** Returns a result without additional figures. */
    public static Reading of(double value) {
        return new Reading(value, Map.of());
    }
}
