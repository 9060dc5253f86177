package io.exactlyonce.time;

import java.time.Duration;
import java.util.concurrent.Executor;

/** The engine's clock, and its scheduler of delayed and periodic tasks. Tests use a scheduler that they control. */
public interface EngineScheduler extends NanoClock {

    /**
     * Runs a task once, after a delay. The task must not block, because all delayed tasks share one thread. If the task
     * throws, the exception is logged.
     */
    void after(Duration delay, Runnable task);

    /**
     * Runs a periodic task on its own thread. The first run begins after an interval, and each later run begins an
     * interval after the end of the run before. If a run throws, the exception is logged, and the repetition continues.
     *
     * @param thread the name of the thread
     * @return the task; closing the task ends the repetition
     */
    PeriodicTask every(Duration interval, String thread, Runnable task);

    /**
     * Returns an executor that runs tasks one after another, on a thread of this name. The executor need not be
     * stopped, because the thread ends while the executor has no tasks.
     */
    Executor thread(String name);

    /** A task that is repeated until it is closed. */
    interface PeriodicTask extends AutoCloseable {

        @Override
        void close();
    }
}
