package io.exactlyonce.chaos.fault;

import java.time.Duration;

/**
 * A worker collects garbage for longer than visibility timeout and lease. The application runs for short moments in
 * between.
 */
record CollectGarbage(int slot, Duration length) implements Disturbance {

    @Override
    public void prepare(Targets targets) throws InterruptedException {
        targets.slot(slot).awaitReady();
    }

    @Override
    public void strike(Targets targets) throws InterruptedException {
        targets.slot(slot).collectGarbage(length);
    }
}
