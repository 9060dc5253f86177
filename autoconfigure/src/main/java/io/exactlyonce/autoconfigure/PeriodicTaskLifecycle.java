package io.exactlyonce.autoconfigure;

import io.exactlyonce.time.EngineScheduler;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Does something again and again, from before the first container starts until after the last has stopped. */
final class PeriodicTaskLifecycle implements SmartLifecycle {

    private final Supplier<EngineScheduler.PeriodicTask> begin;
    private volatile EngineScheduler.@Nullable PeriodicTask ticks;

    /** @param begin starts a task that runs until it is closed */
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
     * Containers start last and stop first of all, in the highest phase. Next a web server waits for its requests,
     * which may also run under claims; Boot keeps the 2048 phases below the highest for that.
     */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE - 4096;
    }
}
