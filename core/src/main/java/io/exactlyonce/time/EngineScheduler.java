package io.exactlyonce.time;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * The clock of this library, which also runs delayed and periodic tasks. Tests replace it by one that they control.
 */
public interface EngineScheduler extends NanoClock {

    /**
     * Runs a task once, after a delay. The task must not block, because all delayed tasks share one thread. If the task
     * throws, the exception is logged.
     */
    void after(Duration delay, Runnable task);

    /**
     * Runs a task again and again on its own thread. The interval is the pause between the end of one execution and the
     * start of the next. If the task throws, the exception is logged, and the repetition continues.
     *
     * @param thread the name of the thread
     * @return stops the repetition when it is closed
     */
    PeriodicTask every(Duration interval, String thread, Runnable task);

    /**
     * Returns an executor that runs tasks one after another, on a thread of this name. The thread ends by itself when
     * there are no tasks, so the executor need not be stopped.
     */
    Executor thread(String name);

    /** A task that is repeated until it is closed. */
    interface PeriodicTask extends AutoCloseable {

        @Override
        void close();
    }
}
