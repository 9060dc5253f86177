package io.exactlyonce.benchmarks;

/** Does a scenario's work as fast as it can. */
public interface Contestant {

    /** Returns the name for tables. */
    String name();

    /**
     * Works for a while, and checks its own work.
     *
     * @return what it reached, most often units of work per second
     * @throws IllegalStateException if the work was not done right, by a contestant that promises that
     */
    Reading run(Turn turn) throws Exception;

    /** Gets ready to work, as far as that takes work. */
    default void warmUp(Turn turn) throws Exception {
        run(turn);
    }

    /** Returns what was not done right so far, for tables; empty if all was. */
    default String faults() {
        return "";
    }
}
