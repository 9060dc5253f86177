package io.exactlyonce.benchmarks;

/** Somebody who does a scenario's work as fast as it can. */
public interface Contestant {

    /** Returns the name for tables. */
    String name();

    /**
     * Works for a while, and checks its own work.
     *
     * @return units of work per second
     * @throws IllegalStateException if the work was not done right, by one who promises that
     */
    double run(Turn turn) throws Exception;

    /** Returns what was not done right so far, for tables; empty if all was. */
    default String faults() {
        return "";
    }
}
