package io.exactlyonce.time;

import java.time.Duration;
import java.util.concurrent.Executor;

/** The engine's clock, delayed tasks and periodic tasks. Tests replace this scheduler by one that they control. */
public interface EngineScheduler extends NanoClock {

    /**
     * Runs a task once, after a delay. The task must not block, because all tasks share one thread. If the task
     * crashes, the crash is logged.
     */
    void after(Duration delay, Runnable task);

    /**
     * Runs a periodic task on its own thread. The task runs first after an interval, and then an interval after each
     * end. Its exceptions are logged, and do not end the repetition.
     *
     * @param thread names the thread
     * @return the task; closing it ends the repetition
     */
    PeriodicTask every(Duration interval, String thread, Runnable task);

    /**
     * Returns an executor that runs tasks in sequence, on its own thread of this name. The executor need not be
     * stopped, because its thread ends while there are no tasks.
     */
    Executor thread(String name);

    /** A task that runs until it is closed. */
    interface PeriodicTask extends AutoCloseable {

        @Override
        void close();
    }
}
