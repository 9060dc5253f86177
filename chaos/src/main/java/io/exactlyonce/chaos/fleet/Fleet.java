package io.exactlyonce.chaos.fleet;

import io.exactlyonce.chaos.cluster.FaultLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** All workers. */
public final class Fleet implements AutoCloseable {

    private static final long ARCHIVE_MILLIS = 90_000;

    private final List<Slot> slots;

    private Fleet(List<Slot> slots) {
        this.slots = List.copyOf(slots);
    }

    /** Starts a number of workers without waiting for them. */
    public static Fleet start(int size, Launch launch, FaultLog log) throws IOException {
        List<Slot> slots = new ArrayList<>();
        for (int number = 1; number <= size; number++) {
            slots.add(new Slot(number, launch, log));
        }
        return new Fleet(slots);
    }

    /**
     * Starts and stops a worker, which leaves an archive of its classes. With the archive, later workers start in half
     * the time. Without it, they start normally.
     */
    public static void archiveClasses(Launch launch) throws IOException, InterruptedException {
        try (Wires wires = Wires.lay(launch)) {
            WorkerProcess worker = WorkerProcess.startArchiving(launch, wires);
            if (worker.awaitReady(ARCHIVE_MILLIS)) {
                worker.requestStop();
                worker.awaitEnd(ARCHIVE_MILLIS);
            }
            worker.kill();
        }
    }

    public List<Slot> slots() {
        return slots;
    }

    /** Returns the slot in which a worker runs now. */
    public Optional<Slot> of(String worker) {
        return slots.stream().filter(slot -> slot.worker().equals(worker)).findFirst();
    }

    /** Breaks all connections to database servers that have moved. */
    public void resetDatabaseWires() {
        slots.forEach(slot -> slot.wires().reset());
    }

    public boolean isReady() {
        return slots.stream().allMatch(Slot::isReady);
    }

    /** Ends all workers at once. */
    @Override
    public void close() throws IOException {
        for (Slot slot : slots) {
            slot.close();
        }
    }
}
