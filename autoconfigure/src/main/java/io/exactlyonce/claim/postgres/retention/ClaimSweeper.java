package io.exactlyonce.claim.postgres.retention;

import io.exactlyonce.claim.RetentionObserver;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.jdbc.SqlStates;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * Deletes claims whose retention is over: completed ones, counted from their completion; released ones, counted from
 * their claim; and ones that were never completed, counted from the end of their lease. A claim expires by the
 * retention under which it was made.
 *
 * <p>Guaranteed: a key that is held or parked is never deleted; of many instances one deletes at any moment; each
 * transaction deletes one batch at most, and waits for no row; after each batch follows a pause as long as the batch
 * took, so that half of one connection's time is the most that it takes from the database.
 *
 * <p>Not guaranteed: when. While it is off, or fails, the table grows, and claims go on.
 *
 * <p>Used by one thread.
 */
public final class ClaimSweeper {

    private static final Logger log = LoggerFactory.getLogger(ClaimSweeper.class);

    private static final String INSUFFICIENT_PRIVILEGE = "42501";

    private static final String REMEDY = " GRANT DELETE ON " + ClaimTable.NAME
            + " TO the database user, or set exactly-once.claim.cleanup.enabled=false";

    /** Waits between two batches. */
    public interface Pause {

        /**
         * Waits.
         *
         * @throws InterruptedException if the thread has to stop
         */
        void of(Duration length) throws InterruptedException;
    }

    private final ExpiredClaims expired;
    private final int batchSize;
    private final List<RetentionObserver> observers;
    private final NanoClock nanoClock;
    private final Pause pause;
    private boolean failing;

    /**
     * @param dataSource reaches only the primary; one connection at a time is used
     * @param batchSize most rows that one transaction deletes, at least 1
     * @param observers learn what happens, and cannot stop it
     * @param nanoClock like {@link System#nanoTime()}
     * @param pause waits between two batches
     */
    public ClaimSweeper(
            DataSource dataSource, int batchSize, List<RetentionObserver> observers, NanoClock nanoClock, Pause pause) {
        if (batchSize < 1) {
            throw new IllegalArgumentException("batchSize (%d) must be at least 1".formatted(batchSize));
        }
        this.expired = new ExpiredClaims(dataSource);
        this.batchSize = batchSize;
        this.observers = List.copyOf(observers);
        this.nanoClock = nanoClock;
        this.pause = pause;
    }

    /** Sweeps, on a thread that is interrupted when it has to stop. */
    public void tick() {
        try {
            sweep();
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Deletes what is expired, batch by batch, until nothing is left or another instance does it. A database that is
     * away is reported once, until it is back.
     *
     * @throws InterruptedException if the thread was interrupted; what was deleted stays deleted
     */
    public void sweep() throws InterruptedException {
        try {
            deleteAll();
            ExpiredClaims.Findings findings = expired.look();
            tell(observer -> observer.surveyed(findings.oldest(), findings.parked()));
            recovered();
        } catch (DataAccessException | TransactionException failure) {
            if (Thread.interrupted()) {
                // The pool had no connection for a thread that has to stop.
                throw new InterruptedException("Stopped while it deleted expired claims");
            }
            failed(failure);
        }
    }

    private void deleteAll() throws InterruptedException {
        long startNanos = nanoClock.nanoTime();
        OffsetDateTime from = ExpiredClaims.START;
        while (true) {
            long batchStartNanos = nanoClock.nanoTime();
            Optional<ExpiredClaims.Batch> batch = expired.delete(from, batchSize);
            if (batch.isEmpty()) {
                return;
            }
            int rows = batch.get().rows();
            tell(observer -> observer.deleted(rows));
            OffsetDateTime last = batch.get().last();
            if (rows < batchSize || last == null) {
                break;
            }
            from = last;
            pause.of(since(batchStartNanos));
        }
        Duration elapsed = since(startNanos);
        tell(observer -> observer.swept(elapsed));
    }

    private Duration since(long nanos) {
        return Duration.ofNanos(nanoClock.nanoTime() - nanos);
    }

    private void failed(RuntimeException failure) {
        tell(RetentionObserver::sweepFailed);
        if (failing) {
            log.debug("Expired claims could still not be deleted", failure);
            return;
        }
        failing = true;
        log.warn(
                "Expired claims could not be deleted, so their table grows until this works again. It is tried again, and"
                        + " reported again only after a success.{}",
                SqlStates.of(failure).equals(INSUFFICIENT_PRIVILEGE) ? REMEDY : "",
                failure);
    }

    private void recovered() {
        if (failing) {
            failing = false;
            log.info("Expired claims are deleted again");
        }
    }

    private void tell(Consumer<RetentionObserver> event) {
        for (RetentionObserver observer : observers) {
            try {
                event.accept(observer);
            } catch (RuntimeException failure) {
                log.warn(
                        "{} failed; expired claims are deleted nevertheless",
                        observer.getClass().getName(),
                        failure);
            }
        }
    }
}
