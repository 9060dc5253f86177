package io.exactlyonce.autoconfigure;

import io.exactlyonce.delivery.waiting.KeyWatcher;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Runs the watch on the keys of waiting deliveries from before the first container starts until after the last has
 * stopped. Its scheduler is no bean, since Boot would take it for the application's.
 */
final class WatchLifecycle implements SmartLifecycle {

    private final KeyWatcher watch;
    private volatile @Nullable ThreadPoolTaskScheduler scheduler;

    WatchLifecycle(KeyWatcher watch) {
        this.watch = watch;
    }

    @Override
    public void start() {
        ThreadPoolTaskScheduler started = new ThreadPoolTaskScheduler();
        started.setThreadNamePrefix("exactly-once-watch-");
        started.setDaemon(true);
        started.initialize();
        var unused = started.scheduleWithFixedDelay(watch::tick, KeyWatcher.INTERVAL);
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
