package io.exactlyonce.chaos.fault;

import java.time.Duration;

/** One fault with all of its random parameters. */
interface Disturbance {

    /** Waits until the target works normally, so that the fault makes a difference. */
    default void prepare(Targets targets) throws InterruptedException {}

    /**
     * Makes the fault, and returns when it is over.
     *
     * @throws Exception if the harness itself failed, which makes the run useless
     */
    void strike(Targets targets) throws Exception;

    /** Returns the approximate length of the fault. */
    Duration length();
}
