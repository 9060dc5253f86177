package io.exactlyonce.autoconfigure;

import io.exactlyonce.audit.QueueAudit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Reads queues again while listeners run. Its scheduler is no bean, since Boot would take it for the application's.
 */
final class AuditLifecycle implements SmartLifecycle {

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private final QueueAudit audit;
    private volatile @Nullable ThreadPoolTaskScheduler scheduler;

    AuditLifecycle(QueueAudit audit) {
        this.audit = audit;
    }

    @Override
    public void start() {
        ThreadPoolTaskScheduler started = new ThreadPoolTaskScheduler();
        started.setThreadNamePrefix("exactly-once-audit-");
        started.setDaemon(true);
        started.initialize();
        var unused = started.scheduleWithFixedDelay(audit::tick, INTERVAL);
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
