package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.fleet.Slot;
import java.time.Duration;

/**
 * A worker's wall clock steps in one direction, and steps back after a while.
 *
 * @param step may be negative
 */
record StepClock(int slot, Duration step, Duration length) implements Disturbance {

    @Override
    public void strike(Targets targets) throws InterruptedException {
        Slot victim = targets.slot(slot);
        if (victim.hasClock()) {
            victim.stepClock(step, length);
        }
    }
}
