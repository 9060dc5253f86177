package io.exactlyonce.chaos.fault;

import java.time.Duration;

/** A worker collects garbage for longer than window and lease, and gets on for moments in between. */
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
