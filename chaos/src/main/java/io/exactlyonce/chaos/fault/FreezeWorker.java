package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.fleet.Slot;
import java.time.Duration;

/** A worker is frozen for longer than window and lease, and wakes inside of its handlers. */
record FreezeWorker(int slot, Duration length) implements Disturbance {

    @Override
    public void strike(Targets targets) throws InterruptedException {
        Slot victim = targets.slot(slot);
        victim.awaitReady();
        victim.freeze(length);
    }
}
