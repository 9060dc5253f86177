package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.renewal.RenewalObserver;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.time.Clockwork;
import io.exactlyonce.time.Jitter;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * The supervisor and its two threads. It starts before listener containers and stops after them, so that deliveries are
 * renewed while their handlers and acknowledgements finish; its executor is no bean, since Boot would take it for the
 * application's.
 */
final class RenewalLifecycle implements SmartLifecycle {

    /**
     * Containers start last and stop first of all, in the highest phase. Next a web server waits for its requests, which may
     * run under claims, too; Boot keeps the 2048 phases below the highest for that.
     */
    static final int PHASE = DEFAULT_PHASE - 4096;

    private final Clockwork clockwork;
    private final RenewalSupervisor supervisor;
    private volatile @Nullable ExecutorService leaseThread;
    private volatile Clockwork.@Nullable Ticks ticks;

    RenewalLifecycle(ClaimStore store, RenewalSchedule schedule, RenewalObserver observer, Clockwork clockwork) {
        this.clockwork = clockwork;
        this.supervisor =
                new RenewalSupervisor(store, schedule, observer, this::onLeaseThread, clockwork, Jitter.RANDOM);
    }

    RenewalSupervisor supervisor() {
        return supervisor;
    }

    private void onLeaseThread(Runnable task) {
        ExecutorService thread = leaseThread;
        if (thread == null) {
            throw new RejectedExecutionException("Renewals have stopped");
        }
        thread.execute(task);
    }

    @Override
    public void start() {
        leaseThread = clockwork.thread("exactly-once-leases-1");
        ticks = supervisor.begin(clockwork, "exactly-once-renewal-1");
    }

    @Override
    public void stop() {
        Clockwork.Ticks running = ticks;
        ExecutorService thread = leaseThread;
        if (running != null && thread != null) {
            running.close();
            ticks = null;
            thread.shutdown();
            leaseThread = null;
        }
    }

    @Override
    public boolean isRunning() {
        return ticks != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
