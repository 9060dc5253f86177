package io.exactlyonce.chaos.fleet;

import io.exactlyonce.chaos.cluster.FaultLog;
import io.exactlyonce.chaos.cluster.Signal;
import io.exactlyonce.chaos.cluster.Traffic;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Fault;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.soak.Samples;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The place of one worker, like a machine: a JVM with its wires. When the JVM ends, a JVM with a new name is started in
 * its place, as by an orchestrator.
 */
public final class Slot implements AutoCloseable {

    private static final long STOP_MILLIS = 30_000;
    private static final long DECIDE_MILLIS = 10_000;
    private static final long MEASURE_MILLIS = 10_000;
    private static final long LOOK_MILLIS = 100;
    private static final long READY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final int number;
    private final Wires wires;
    private final Launch launch;
    private final FaultLog log;
    private final Pauses pauses;
    private final Thread supervisor;
    private volatile @Nullable WorkerProcess current;
    private volatile @Nullable Fault ending;
    private volatile boolean closed;
    private List<Fault> partition = List.of();
    private final List<String> partitioned = new ArrayList<>();

    Slot(int number, Launch launch, FaultLog log) throws IOException {
        this.number = number;
        this.launch = launch;
        this.wires = Wires.lay(launch);
        this.log = log;
        this.pauses = new Pauses(log);
        this.supervisor = new Thread(this::supervise, "slot-" + number);
        supervisor.setDaemon(true);
        supervisor.start();
    }

    public Wires wires() {
        return wires;
    }

    /** Returns the name of the current JVM, or an empty text. */
    public String worker() {
        WorkerProcess worker = current;
        return worker == null ? "" : worker.name();
    }

    /** Returns whether the slot's worker listens to its queues. */
    public boolean isReady() {
        WorkerProcess worker = current;
        return worker != null && worker.isReady();
    }

    /**
     * Waits until the slot's worker listens, but only for a while, because workers that cannot start should be hit,
     * too.
     */
    public void awaitReady() throws InterruptedException {
        long startNanos = System.nanoTime();
        while (!isReady() && System.nanoTime() - startNanos < READY_NANOS) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    /** Sends SIGKILL. */
    public void kill() {
        end(Fault.KILL, WorkerProcess::kill);
    }

    /** Stops the worker gracefully, and kills it if that takes too long. */
    public void stop() throws InterruptedException {
        WorkerProcess worker = current;
        end(Fault.STOP, WorkerProcess::requestStop);
        if (worker != null && !worker.awaitEnd(STOP_MILLIS)) {
            worker.kill();
        }
    }

    /** Freezes the worker for a while with SIGSTOP. */
    public void freeze(Duration time) throws InterruptedException {
        WorkerProcess worker = current;
        if (worker == null) {
            return;
        }
        pauses.begin(worker.name());
        worker.signal(Signal.STOP);
        try {
            TimeUnit.MILLISECONDS.sleep(time.toMillis());
        } finally {
            worker.signal(Signal.CONT);
            pauses.end(worker.name());
        }
    }

    /** Makes the worker collect garbage again and again for a while. */
    public void collectGarbage(Duration time) throws InterruptedException {
        WorkerProcess worker = current;
        if (worker == null) {
            return;
        }
        pauses.begin(worker.name());
        worker.order("collect-garbage " + time.toMillis());
        TimeUnit.MILLISECONDS.sleep(time.plusSeconds(1).toMillis());
        pauses.end(worker.name());
    }

    /** Makes the worker's operator decide on parked keys, and waits for it for a while. */
    public void decide() throws InterruptedException {
        WorkerProcess worker = current;
        if (worker != null && worker.isReady()) {
            boolean unused = worker.decide(DECIDE_MILLIS);
        }
    }

    /** Adds the worker's current resources to the samples, unless the worker does not answer. */
    public void measure(Samples samples) throws InterruptedException {
        WorkerProcess worker = current;
        if (worker != null && worker.isReady()) {
            worker.measure(wires, MEASURE_MILLIS).ifPresent(sample -> samples.add(worker.name(), sample));
        }
    }

    /** Returns whether the slot's workers have their own wall clock. */
    public boolean hasClock() {
        return launch.clocks().areThere();
    }

    /** Steps the worker's wall clock, and steps it back after a while. */
    public void stepClock(Duration step, Duration time) throws InterruptedException {
        String worker = worker();
        log.began(Fault.CLOCK_STEP, worker);
        try {
            launch.clocks().step(worker, step);
            TimeUnit.MILLISECONDS.sleep(time.toMillis());
            launch.clocks().step(worker, Duration.ZERO);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            log.ended(Fault.CLOCK_STEP, worker);
        }
    }

    /** Separates the slot's workers from servers from now on, including workers that are started later. */
    public synchronized void partition(Wires.Side side, Traffic traffic) {
        partition = side.faults();
        recordPartition(worker());
        wires.set(side, traffic);
    }

    /** Ends the partition. */
    public synchronized void heal(Wires.Side side) {
        wires.set(side, Traffic.open());
        partitioned.forEach(worker -> partition.forEach(fault -> log.ended(fault, worker)));
        partitioned.clear();
        partition = List.of();
    }

    private synchronized void recordPartition(String worker) {
        if (!worker.isEmpty() && !partition.isEmpty()) {
            partitioned.add(worker);
            partition.forEach(fault -> log.began(fault, worker));
        }
    }

    private synchronized void end(Fault how, Consumer<WorkerProcess> way) {
        WorkerProcess worker = current;
        if (worker != null && worker.isAlive() && ending == null) {
            log.began(how, worker.name());
            ending = how;
            way.accept(worker);
        }
    }

    private void supervise() {
        try {
            for (int generation = 1; !closed; generation++) {
                String name = "w%d-%d".formatted(number, generation);
                log.record(Event.of(Kind.STARTED).by(name));
                recordPartition(name);
                WorkerProcess worker = WorkerProcess.start(name, launch, wires, mode());
                current = worker;
                while (!worker.awaitEnd(LOOK_MILLIS)) {
                    pauses.look(worker);
                }
                recordEnd(worker);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the mode: every other worker observes one of its listeners. */
    private List<String> mode() {
        return number % 2 == 0 ? List.of("--exactly-once.listeners.letters.mode=observe") : List.of();
    }

    private synchronized void recordEnd(WorkerProcess worker) {
        if (closed) {
            return;
        }
        pauses.ended(worker);
        Fault how = ending;
        if (how == null) {
            log.record(Event.of(Kind.ENDED).by(worker.name()));
        } else {
            log.ended(how, worker.name());
        }
        ending = null;
        current = null;
    }

    /** Ends the worker at once. */
    @Override
    public void close() throws IOException {
        closed = true;
        supervisor.interrupt();
        WorkerProcess worker = current;
        if (worker != null) {
            worker.signal(Signal.CONT);
            worker.kill();
        }
        wires.close();
    }
}
