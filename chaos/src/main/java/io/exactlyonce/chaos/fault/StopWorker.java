package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.fleet.Slot;
import java.time.Duration;

/** A worker is stopped in good order, as by a deployment. */
record StopWorker(int slot) implements Disturbance {

    @Override
    public void strike(Targets targets) throws InterruptedException {
        Slot victim = targets.slot(slot);
        victim.awaitReady();
        victim.stop();
    }

    @Override
    public Duration length() {
        return Duration.ofSeconds(8);
    }
}
