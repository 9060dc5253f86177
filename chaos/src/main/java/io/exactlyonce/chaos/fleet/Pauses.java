package io.exactlyonce.chaos.fleet;

import io.exactlyonce.chaos.cluster.FaultLog;
import io.exactlyonce.chaos.history.Fault;
import java.time.Duration;

/**
 * Records pauses of a slot's workers. The harness makes some pauses. Other pauses are only observed: a worker is silent
 * for a while because the machine is busy. Overlapping pauses count as one.
 */
final class Pauses {

    private static final Duration SILENCE = Duration.ofMillis(1_200);

    private final FaultLog log;
    private String worker = "";
    private int depth;
    private boolean silent;

    Pauses(FaultLog log) {
        this.log = log;
    }

    synchronized void begin(String paused) {
        if (!worker.equals(paused)) {
            worker = paused;
            depth = 0;
        }
        if (depth++ == 0) {
            log.began(Fault.PAUSE, paused);
        }
    }

    synchronized void end(String paused) {
        if (worker.equals(paused) && depth > 0 && --depth == 0) {
            log.ended(Fault.PAUSE, paused);
        }
    }

    /** Checks whether the worker has been heard recently. */
    synchronized void look(WorkerProcess current) {
        boolean silentNow = current.isReady() && current.silence().compareTo(SILENCE) > 0;
        if (silentNow && !silent) {
            begin(current.name());
        } else if (silent && !silentNow) {
            end(current.name());
        }
        silent = silentNow;
    }

    /** Ends the pause of a worker that is gone. */
    synchronized void ended(WorkerProcess gone) {
        if (worker.equals(gone.name()) && depth > 0) {
            depth = 0;
            log.ended(Fault.PAUSE, worker);
        }
        silent = false;
    }
}
