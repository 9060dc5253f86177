package io.exactlyonce.time;

import java.time.Duration;
import java.util.concurrent.Executor;

/** All time of the engine: what time it is, and what is done later, or again and again. Tests bring one that they decide. */
public interface EngineScheduler extends NanoClock, Timer {

    /**
     * Does something again and again, on a thread of its own: first when an interval is over, then an interval after each end.
     * What it throws is logged, and ends nothing.
     *
     * @param thread names the thread
     * @return ends it
     */
    PeriodicTask every(Duration interval, String thread, Runnable task);

    /**
     * Returns what runs tasks one after the other, on a thread of its own that has this name. There is nothing to stop: the thread
     * ends by itself while there is nothing to do.
     */
    Executor thread(String name);

    /** What goes on until it is closed. */
    interface PeriodicTask extends AutoCloseable {

        @Override
        void close();
    }
}
