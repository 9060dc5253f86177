package io.exactlyonce.time;

import java.time.Duration;
import java.util.concurrent.Executor;

/** The engine's clock, delayed tasks and periodic tasks. Tests replace it by one that they control. */
public interface EngineScheduler extends NanoClock {

    /**
     * Runs a task once, after a delay. The task must not block, because all tasks share one thread. If the task crashes, the crash is
     * logged.
     */
    void after(Duration delay, Runnable task);

    /**
     * Runs a periodic task on its own thread: first after an interval, then an interval after each end. Its exceptions
     * are logged, and do not end it.
     *
     * @param thread names the thread
     * @return ends it
     */
    PeriodicTask every(Duration interval, String thread, Runnable task);

    /**
     * Returns an executor that runs tasks in sequence, on its own thread of this name. There is nothing to stop: the
     * thread ends by itself while there is nothing to do.
     */
    Executor thread(String name);

    /** A task that runs until it is closed. */
    interface PeriodicTask extends AutoCloseable {

        @Override
        void close();
    }
}
