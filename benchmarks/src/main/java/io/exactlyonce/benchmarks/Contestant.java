package io.exactlyonce.benchmarks;

import java.time.Duration;

/** Somebody who does a scenario's work as fast as it can. */
public interface Contestant {

    /** Returns the name for tables. */
    String name();

    /**
     * Works for a while, and checks its own work.
     *
     * @return units of work per second
     * @throws IllegalStateException if the work was not done right
     */
    double run(Duration length) throws Exception;
}
