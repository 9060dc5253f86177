package io.exactlyonce.chaos.fault;

import java.time.Duration;

/** A worker is frozen for longer than visibility timeout and lease, and continues in the middle of its handlers. */
record FreezeWorker(int slot, Duration length) implements Disturbance {

    @Override
    public void prepare(Targets targets) throws InterruptedException {
        targets.slot(slot).awaitReady();
    }

    @Override
    public void strike(Targets targets) throws InterruptedException {
        targets.slot(slot).freeze(length);
    }
}
