package io.exactlyonce.benchmarks;

/** A contestant, which does a scenario's work as fast as possible. */
public interface Contestant {

    /** Returns the name for tables. */
    String name();

    /**
     * Works for one turn, and checks the results.
     *
     * @return the reached value, usually units of work per second
     * @throws IllegalStateException if a contestant that promises correct work did not do it correctly
     */
    Reading run(Turn turn) throws Exception;

    /** Prepares for the turns, if preparation takes work. */
    default void warmUp(Turn turn) throws Exception {
        run(turn);
    }

    /** Returns the faults so far, for tables; empty if there are none. */
    default String faults() {
        return "";
    }
}
