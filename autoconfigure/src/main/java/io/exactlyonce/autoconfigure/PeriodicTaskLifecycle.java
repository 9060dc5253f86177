package io.exactlyonce.autoconfigure;

import io.exactlyonce.time.EngineScheduler;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Runs a periodic task. The task starts before the first listener container, and stops after the last one. */
final class PeriodicTaskLifecycle implements SmartLifecycle {

    private final Supplier<EngineScheduler.PeriodicTask> begin;
    private volatile EngineScheduler.@Nullable PeriodicTask ticks;

    /** @param begin starts the task, which runs until it is closed */
    PeriodicTaskLifecycle(Supplier<EngineScheduler.PeriodicTask> begin) {
        this.begin = begin;
    }

    @Override
    public void start() {
        ticks = begin.get();
    }

    @Override
    public void stop() {
        EngineScheduler.PeriodicTask running = ticks;
        if (running != null) {
            running.close();
            ticks = null;
        }
    }

    @Override
    public boolean isRunning() {
        return ticks != null;
    }

    /**
     * Returns a phase below those of containers and of the web server, because tasks must start before them and stop
     * after them. Containers have the highest phase, so they start last and stop first. After the containers, the web
     * server waits for its requests, which may also hold claims. Boot uses the 2048 phases below the highest one for
     * the web server.
     */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE - 4096;
    }
}
