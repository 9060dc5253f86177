package io.exactlyonce.autoconfigure;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Does something again and again, from before the first container starts until after the last has stopped. Its scheduler is no
 * bean, since Boot would take it for the application's.
 */
final class TickLifecycle implements SmartLifecycle {

    private final String threadPrefix;
    private final Runnable tick;
    private final Duration interval;
    private volatile @Nullable ThreadPoolTaskScheduler scheduler;

    TickLifecycle(String threadPrefix, Runnable tick, Duration interval) {
        this.threadPrefix = threadPrefix;
        this.tick = tick;
        this.interval = interval;
    }

    @Override
    public void start() {
        ThreadPoolTaskScheduler started = new ThreadPoolTaskScheduler();
        started.setThreadNamePrefix(threadPrefix);
        started.setDaemon(true);
        started.initialize();
        var unused = started.scheduleWithFixedDelay(tick, interval);
        scheduler = started;
    }

    @Override
    public void stop() {
        ThreadPoolTaskScheduler running = scheduler;
        if (running != null) {
            running.shutdown();
            scheduler = null;
        }
    }

    @Override
    public boolean isRunning() {
        return scheduler != null;
    }

    @Override
    public int getPhase() {
        return RenewalLifecycle.PHASE;
    }
}
