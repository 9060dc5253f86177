package io.exactlyonce.claim.postgres;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.springframework.dao.TransientDataAccessResourceException;

/**
 * Admits claims, completions and releases to all connections but one, which is left to renewals: a claim that waits costs
 * time, a renewal that waits may cost a lease.
 */
final class ConnectionLimiter {

    private final int connections;
    private final Duration patience;
    private final Semaphore permits;

    /**
     * @param connections all that there are, at least 2
     * @param patience longest wait for a permit
     */
    ConnectionLimiter(int connections, Duration patience) {
        if (connections < 2) {
            throw new IllegalArgumentException(
                    "connections (%d) must be at least 2: one is left to renewals".formatted(connections));
        }
        this.connections = connections;
        this.patience = patience;
        this.permits = new Semaphore(connections - 1);
    }

    /**
     * Works as soon as there is a permit.
     *
     * @throws TransientDataAccessResourceException if there was none in time, or if the thread was interrupted
     */
    <T> T execute(Supplier<T> work) {
        acquire();
        try {
            return work.get();
        } finally {
            permits.release();
        }
    }

    private void acquire() {
        // A thread that was interrupted still releases its claim, if that takes no wait.
        if (permits.tryAcquire()) {
            return;
        }
        try {
            if (!permits.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new TransientDataAccessResourceException(busy());
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            throw new TransientDataAccessResourceException(
                    "Interrupted while it waited for a connection for claims", stopping);
        }
    }

    private String busy() {
        return ("Claims, completions and releases kept all of their %d connections busy for %d ms: raise"
                        + " exactly-once.datasource.maximum-pool-size (%d, of which one is left to renewals), or find out"
                        + " what slows the database down")
                .formatted(connections - 1, patience.toMillis(), connections);
    }
}
