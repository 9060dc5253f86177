package io.exactlyonce.autoconfigure;

import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * The threads that record how asynchronous handlers ended, since a thread that completes a future must not be made to wait
 * for a database. They start before listener containers and stop after them; their executor is no bean, since Boot would take it
 * for the application's. What waits for a thread is bounded by the deliveries in flight.
 */
final class CompletionLifecycle implements SmartLifecycle {

    private final int threads;
    private volatile @Nullable ThreadPoolTaskExecutor executor;

    /** @param threads at most: as many as there are connections to record something on */
    CompletionLifecycle(int threads) {
        this.threads = threads;
    }

    /** @throws RejectedExecutionException if the application has stopped */
    void execute(Runnable task) {
        ThreadPoolTaskExecutor running = executor;
        if (running == null) {
            throw new RejectedExecutionException("The application has stopped");
        }
        running.execute(task);
    }

    @Override
    public void start() {
        ThreadPoolTaskExecutor started = new ThreadPoolTaskExecutor();
        started.setThreadNamePrefix("exactly-once-completion-");
        started.setDaemon(true);
        started.setCorePoolSize(threads);
        started.setMaxPoolSize(threads);
        started.setAllowCoreThreadTimeOut(true);
        // An interrupt would break off a completion whose effect has happened.
        started.setWaitForTasksToCompleteOnShutdown(true);
        started.initialize();
        executor = started;
    }

    @Override
    public void stop() {
        ThreadPoolTaskExecutor running = executor;
        if (running != null) {
            executor = null;
            running.shutdown();
        }
    }

    @Override
    public boolean isRunning() {
        return executor != null;
    }

    @Override
    public int getPhase() {
        return RenewalLifecycle.PHASE;
    }
}
