package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.PrimaryCheck;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.util.ReflectionUtils;

/**
 * Makes sure, before the first container polls, that claims can be kept: the server is a primary, and the table is there.
 * That begins with the first container, when all database migrations of the application have run, and goes on beside the
 * rest of the start: containers look their queues up meanwhile. An application without exactly-once listeners opens no
 * connection.
 *
 * <p>One check is under way at a time, on a thread of its own; all that ask meanwhile get its answer or its failure. One that has passed is
 * not made again; one that has failed is, for the next caller.
 */
public final class ClaimDatabase implements ClaimBackend, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ClaimDatabase.class);

    private final ClaimPool pool;
    private final PrimaryCheck primary;
    private final ClaimTable table;
    private final DatabaseInitializationMode mode;
    private final Runnable whenReady;
    private final SimpleAsyncTaskExecutor thread = new SimpleAsyncTaskExecutor("exactly-once-start-");
    private volatile Future<?> latest = CompletableFuture.completedFuture(null);
    private volatile boolean ready;
    private volatile boolean awaited;

    /**
     * @param pool leads to where claims live
     * @param mode {@code ALWAYS} to create the table, {@code NEVER} to leave the database alone
     * @param whenReady runs once, as soon as claims can be kept; throws nothing
     */
    public ClaimDatabase(ClaimPool pool, DatabaseInitializationMode mode, Runnable whenReady) {
        this.pool = pool;
        this.primary = new PrimaryCheck(pool);
        this.table = new ClaimTable(pool.dataSource());
        this.mode = mode;
        this.whenReady = whenReady;
        // An application that gives up its start does not wait for a database.
        thread.setDaemon(true);
        thread.setCancelRemainingTasksOnClose(true);
        // In milliseconds: the database's replies come within this time, or never.
        thread.setTaskTerminationTimeout(5_000);
    }

    @Override
    public synchronized void beginCheck() {
        if (!latest.isDone() || ready) {
            return;
        }
        latest = thread.isActive()
                ? thread.submit(this::check)
                : CompletableFuture.failedFuture(new IllegalStateException("The application is closed"));
    }

    @Override
    public void requireReady() {
        awaited = true;
        try {
            beginCheck();
            latest.get();
        } catch (ExecutionException failed) {
            ReflectionUtils.rethrowRuntimeException(failed.getCause());
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted before the check of the claims' database had ended", hurry);
        }
    }

    private void check() {
        try {
            primary.verify();
            if (mode == DatabaseInitializationMode.ALWAYS) {
                table.create();
            }
            table.verify();
            whenReady.run();
            ready = true;
        } catch (RuntimeException failure) {
            // Containers that start by hand may be hours away.
            if (!awaited && thread.isActive()) {
                log.error("No listener can start: {}", failure.getMessage());
            }
            throw failure;
        }
    }

    @Override
    public String description() {
        return pool.target() + " (primary)";
    }

    /**
     * Proves it in one round trip: the server is a primary, and the table is there if claims have needed it yet.
     *
     * @return the address of the server
     */
    @Override
    public Map<String, Object> prove() {
        PrimaryCheck.Server server = primary.prove();
        if (ready && !server.hasTable()) {
            table.verify();
        }
        return Map.of("primary", server.address());
    }

    @Override
    public Optional<Duration> connectionTimeout() {
        return pool.chosenTimeout();
    }

    @Override
    public Optional<Duration> openingTime() {
        return pool.openingTime();
    }

    /** Returns whether there are listeners, and claims can be kept. */
    public boolean isReady() {
        return ready;
    }

    /**
     * Breaks a check off, and waits until it uses nothing any more: the pool is closed next. What takes longer ends with
     * its connection.
     */
    @Override
    public void close() {
        thread.close();
    }
}
