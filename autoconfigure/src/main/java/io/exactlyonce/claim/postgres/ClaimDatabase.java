package io.exactlyonce.claim.postgres;

import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.PrimaryCheck;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
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
public final class ClaimDatabase implements AutoCloseable {

    static final String THREAD = "exactly-once-start";

    /** The database's replies come within this time, or never. */
    private static final Duration LONGEST_STOP = Duration.ofSeconds(5);

    private static final Logger log = LoggerFactory.getLogger(ClaimDatabase.class);

    private final PrimaryCheck primary;
    private final ClaimTable table;
    private final DatabaseInitializationMode mode;
    private final Runnable whenReady;
    private volatile @Nullable Attempt latest;
    private volatile boolean ready;
    private volatile boolean awaited;
    private volatile boolean closed;

    private record Attempt(FutureTask<@Nullable Void> check, Thread thread) {}

    /**
     * @param pool leads to where claims live
     * @param mode {@code ALWAYS} to create the table, {@code NEVER} to leave the database alone
     * @param whenReady runs once, as soon as claims can be kept; throws nothing
     */
    public ClaimDatabase(ClaimPool pool, DatabaseInitializationMode mode, Runnable whenReady) {
        this.primary = new PrimaryCheck(pool);
        this.table = new ClaimTable(pool.dataSource());
        this.mode = mode;
        this.whenReady = whenReady;
    }

    /** Begins a check unless one is under way or has passed, and does not wait. */
    public void beginCheck() {
        begin();
    }

    /** Returns when claims can be kept, or throws why they cannot. */
    public void requireReady() {
        if (ready) {
            return;
        }
        awaited = true;
        try {
            begin().check().get();
        } catch (ExecutionException failed) {
            ReflectionUtils.rethrowRuntimeException(failed.getCause());
        } catch (CancellationException stopped) {
            throw new IllegalStateException(
                    "The application was closed before the check of the claims' database had ended", stopped);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted before the check of the claims' database had ended", hurry);
        }
    }

    private synchronized Attempt begin() {
        Attempt last = latest;
        if (last != null && (!last.check().isDone() || ready)) {
            return last;
        }
        FutureTask<@Nullable Void> check = new FutureTask<>(this::check, null);
        Attempt next = new Attempt(check, new Thread(check, THREAD));
        // An application that gives up its start does not wait for a database.
        next.thread().setDaemon(true);
        latest = next;
        if (closed) {
            check.cancel(false);
        }
        next.thread().start();
        return next;
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
            if (!awaited && !closed) {
                log.error("No listener can start: {}", failure.getMessage());
            }
            throw failure;
        }
    }

    /**
     * Proves in one round trip that claims can be kept at this moment: the server is a primary, and the table is there if
     * claims have needed it yet.
     *
     * @return the server's address
     */
    public String prove() {
        PrimaryCheck.Server server = primary.prove();
        if (ready && !server.hasTable()) {
            table.verify();
        }
        return server.address();
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
        closed = true;
        Attempt last = latest;
        if (last != null) {
            last.check().cancel(true);
            try {
                last.thread().join(LONGEST_STOP.toMillis());
            } catch (InterruptedException hurry) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
