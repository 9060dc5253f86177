package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.fleet.Slot;
import io.exactlyonce.chaos.worker.Point;
import java.time.Duration;

/**
 * A worker is killed when it reaches a point of a delivery. If the worker does not reach the point in time, it is
 * killed anyway.
 */
record KillAtPoint(int slot, Point point) implements Disturbance {

    private static final long PATIENCE_MILLIS = 4_000;

    @Override
    public void prepare(Targets targets) throws InterruptedException {
        targets.slot(slot).awaitReady();
    }

    @Override
    public void strike(Targets targets) throws InterruptedException {
        Slot victim = targets.slot(slot);
        if (!targets.points().kill(victim.worker(), point, PATIENCE_MILLIS)) {
            victim.kill();
        }
    }

    @Override
    public Duration length() {
        return Duration.ofSeconds(5);
    }
}
