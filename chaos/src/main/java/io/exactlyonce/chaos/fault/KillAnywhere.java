package io.exactlyonce.chaos.fault;

import java.time.Duration;

/** A worker is killed at any point. */
record KillAnywhere(int slot) implements Disturbance {

    @Override
    public void prepare(Targets targets) throws InterruptedException {
        targets.slot(slot).awaitReady();
    }

    @Override
    public void strike(Targets targets) {
        targets.slot(slot).kill();
    }

    @Override
    public Duration length() {
        return Duration.ofSeconds(5);
    }
}
