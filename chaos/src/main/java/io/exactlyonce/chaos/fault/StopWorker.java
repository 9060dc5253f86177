package io.exactlyonce.chaos.fault;

import java.time.Duration;

/** A worker is shut down gracefully, as by a deployment. */
record StopWorker(int slot) implements Disturbance {

    @Override
    public void prepare(Targets targets) throws InterruptedException {
        targets.slot(slot).awaitReady();
    }

    @Override
    public void strike(Targets targets) throws InterruptedException {
        targets.slot(slot).stop();
    }

    @Override
    public Duration length() {
        return Duration.ofSeconds(8);
    }
}
