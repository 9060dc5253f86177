package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.fleet.Slot;
import java.time.Duration;

/** A worker is killed wherever it is. */
record KillAnywhere(int slot) implements Disturbance {

    @Override
    public void strike(Targets targets) throws InterruptedException {
        Slot victim = targets.slot(slot);
        victim.awaitReady();
        victim.kill();
    }

    @Override
    public Duration length() {
        return Duration.ofSeconds(5);
    }
}
