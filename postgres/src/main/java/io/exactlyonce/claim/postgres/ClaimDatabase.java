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
 * Checks before the first container polls that claims can be kept: the server is a primary, and the table exists. The
 * check starts with the first container, after the application's database migrations, and runs in parallel with
 * startup, while containers look up their queues. Without exactly-once listeners no connection is opened.
 *
 * <p>One check runs at a time, on its own thread; all callers meanwhile get its result. A check that passed is not
 * repeated; a failed one is, for the next caller.
 */
public final class ClaimDatabase implements ClaimBackend, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ClaimDatabase.class);

    private final ClaimPool pool;
    private final PrimaryCheck primary;
    private final ClaimTable table;
    private final ClaimSchema schema;
    private final DatabaseInitializationMode mode;
    private final Runnable whenReady;
    private final SimpleAsyncTaskExecutor thread = new SimpleAsyncTaskExecutor("exactly-once-start-");
    private volatile Future<?> latest = CompletableFuture.completedFuture(null);
    private volatile boolean ready;
    private volatile boolean awaited;

    /**
     * @param pool leads to where claims live
     * @param table of the pool's
     * @param mode {@code ALWAYS} to create the table, {@code NEVER} to leave the database alone
     * @param whenReady runs once, as soon as claims can be kept; throws nothing
     */
    public ClaimDatabase(ClaimPool pool, ClaimTable table, DatabaseInitializationMode mode, Runnable whenReady) {
        this.pool = pool;
        this.primary = new PrimaryCheck(pool);
        this.table = table;
        this.schema = new ClaimSchema(table);
        this.mode = mode;
        this.whenReady = whenReady;
        // A failed startup does not wait for a database.
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
                ? begun()
                : CompletableFuture.failedFuture(new IllegalStateException("The application is closed"));
    }

    /** Looks for the database on the caller's thread, because that may create the application's DataSource. */
    private Future<?> begun() {
        try {
            pool.target();
        } catch (RuntimeException impossible) {
            return CompletableFuture.failedFuture(reported(impossible));
        }
        return thread.submit(this::check);
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
            throw new IllegalStateException("Interrupted during the check of the claim database", hurry);
        }
    }

    private void check() {
        try {
            primary.verify();
            if (mode == DatabaseInitializationMode.ALWAYS) {
                schema.create();
            }
            schema.verify();
            whenReady.run();
            ready = true;
        } catch (RuntimeException failure) {
            throw reported(failure);
        }
    }

    /** Containers that start by hand may be hours away. */
    private RuntimeException reported(RuntimeException failure) {
        if (!awaited && thread.isActive()) {
            log.error("No listener can start: {}", failure.getMessage());
        }
        return failure;
    }

    @Override
    public String description() {
        return pool.target() + " (primary)";
    }

    /**
     * Checks in one round trip that the server is a primary, and that the table exists if claims have needed it yet.
     *
     * @return the address of the server
     */
    @Override
    public Map<String, Object> prove() {
        PrimaryCheck.Proof proof = primary.prove(ready ? table.sql("{table}") : table.name());
        if (ready && !proof.hasTable()) {
            schema.verify();
        }
        return Map.of("primary", proof.server().address());
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
     * Cancels a check and waits for its end, because the pool is closed next. A longer check ends with its
     * connection.
     */
    @Override
    public void close() {
        thread.close();
    }
}
