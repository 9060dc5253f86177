package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.cluster.Traffic;
import io.exactlyonce.chaos.fleet.Slot;
import io.exactlyonce.chaos.fleet.Wires.Side;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Wires between workers and servers are cut, slow or black-holed.
 *
 * @param slot the worker's slot; {@link #ALL} for all workers
 */
record Partition(int slot, Side side, Traffic traffic, Duration length) implements Disturbance {

    static final int ALL = -1;

    @Override
    public void strike(Targets targets) throws InterruptedException {
        List<Slot> slots = slot == ALL ? targets.fleet().slots() : List.of(targets.slot(slot));
        try {
            slots.forEach(one -> one.partition(side, traffic));
            TimeUnit.MILLISECONDS.sleep(length.toMillis());
        } finally {
            slots.forEach(one -> one.heal(side));
        }
    }
}
