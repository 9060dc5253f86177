package io.exactlyonce.autoconfigure;

import io.exactlyonce.time.EngineScheduler;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Runs a periodic task. The task starts before the first listener container, and stops after the last one. */
final class PeriodicTaskLifecycle implements SmartLifecycle {

    private final Supplier<EngineScheduler.PeriodicTask> begin;
    private volatile EngineScheduler.@Nullable PeriodicTask ticks;

    PeriodicTaskLifecycle(Supplier<EngineScheduler.PeriodicTask> begin) {
        this.begin = begin;
    }

    /**
     * Skips a periodic task until the claim store has passed its first check. Listeners, {@code ExactlyOnceOperations}
     * and {@code ParkedKeys} start this check, so an application that uses none of them makes no requests to the store.
     *
     * @param isReady whether the check has passed
     */
    static Runnable whenReady(BooleanSupplier isReady, Runnable task) {
        return () -> {
            if (isReady.getAsBoolean()) {
                task.run();
            }
        };
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
     * Returns a phase below the phases of the listener containers and of the web server. The lowest of these is
     * {@code DEFAULT_PHASE - 2048}. Spring starts low phases first and stops them last. So the task runs as long as
     * listeners and HTTP requests may hold claims.
     */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE - 4096;
    }
}
