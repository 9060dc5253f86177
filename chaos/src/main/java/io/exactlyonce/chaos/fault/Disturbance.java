package io.exactlyonce.chaos.fault;

import java.time.Duration;

/** One fault, with all that chance has decided about it. */
interface Disturbance {

    /** Waits until what it hits is in working order, for what comes next to make a difference. */
    default void prepare(Targets targets) throws InterruptedException {}

    /**
     * Makes the fault, and returns when it is over.
     *
     * @throws Exception if the harness itself failed: the run is of no use then
     */
    void strike(Targets targets) throws Exception;

    /** Returns about how long that takes. */
    Duration length();
}
