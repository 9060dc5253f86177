package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.fleet.Slot;
import java.time.Duration;

/** A worker collects garbage for longer than window and lease, and gets on for moments in between. */
record CollectGarbage(int slot, Duration length) implements Disturbance {

    @Override
    public void strike(Targets targets) throws InterruptedException {
        Slot victim = targets.slot(slot);
        victim.awaitReady();
        victim.collectGarbage(length);
    }
}
