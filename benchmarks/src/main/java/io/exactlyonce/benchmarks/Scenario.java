package io.exactlyonce.benchmarks;

import java.util.Map;

/** A question, and the contestants that are measured to answer it. */
public interface Scenario {

    /**
     * Measures, and prints what it measured.
     *
     * @return ratios by their names in {@code results.json}
     */
    Map<String, Double> run(Plan plan) throws Exception;
}
