package io.exactlyonce.benchmarks;

import io.exactlyonce.benchmarks.report.Findings;

/** A question, and the contestants that are measured to answer it. */
public interface Scenario {

    /**
     * Measures.
     *
     * @param findings receives tables, and figures by their names in {@code results.json}
     */
    void run(Plan plan, Findings findings) throws Exception;
}
