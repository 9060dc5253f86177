package io.exactlyonce.claim.postgres;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.DataClassRowMapper;

/**
 * Deletes claims after their retention. Each claim keeps the retention that was configured when it was made. The
 * retention starts at one of these times:
 * <ul>
 *   <li>for a completed claim, at its completion
 *   <li>for a released claim, when the claim was made
 *   <li>for a claim that was never resolved, at the end of its lease
 * </ul>
 *
 * <p>Guaranteed:
 * <ul>
 *   <li>Parked keys, and keys with a running lease, are never deleted.
 *   <li>Only one instance deletes at a time.
 *   <li>Each transaction deletes at most one batch, and skips locked rows.
 *   <li>After each full batch, the deletion pauses for as long as the batch took. So it uses a connection for at most
 *       half of the time.
 * </ul>
 *
 * <p>Not guaranteed: that a claim is deleted soon after its retention. While the deletion is off or fails, the table
 * grows, but claims still work.
 *
 * <p>Only one thread may use an instance.
 */
public final class Retention {

    private static final Logger log = LoggerFactory.getLogger(Retention.class);

    private static final String INSUFFICIENT_PRIVILEGE = "42501";

    private static final String REMEDY =
            " GRANT DELETE ON %s TO the database user, or set exactly-once.claim.cleanup.enabled=false";

    /** The expiry from which the first batch reads. */
    private static final OffsetDateTime START = OffsetDateTime.MIN; // PostgreSQL's -infinity

    /**
     * Settings for the deletion. Commits do not wait for the disk: if the server crashes and a deletion is lost, the
     * next sweep repeats it. JIT compilation is off, because with many partitions it would take longer than the batch
     * itself.
     */
    private static final String SETTINGS = """
            SELECT pg_catalog.set_config('enable_seqscan', 'off', true),
                   pg_catalog.set_config('synchronous_commit', 'off', true), pg_catalog.set_config('jit', 'off', true);
            """;

    /**
     * Deletes one batch of expired rows. Rows that another transaction has locked are left for the next sweep.
     *
     * <p>{@code turn} is an advisory lock, so that only one instance deletes at a time. If another instance has the
     * lock, this statement reads no row. The lock ends with the transaction, so it also works through a pooler. Its
     * number contains the table's OID, because several schemas can have a table of the same name.
     *
     * <p>{@code expires_at} is the time of the claim plus the retention. A completed row is kept longer, by the time
     * from its claim to its completion. A claim that was never resolved is kept longer, by the time from its claim to
     * the end of its lease. The statement compares intervals and not times, because the length of a day depends on the
     * session's time zone.
     *
     * <p>The first parameter is the last {@code expires_at} of the previous batch. So the index scan skips the rows
     * that were just deleted. The statement uses {@code now()}, because PostgreSQL cannot limit an index scan by
     * {@code clock_timestamp()}.
     */
    static final String DELETE = """
            WITH turn AS MATERIALIZED (
                SELECT pg_catalog.pg_try_advisory_xact_lock(731744120, '{table}'::pg_catalog.regclass::pg_catalog.oid::integer) AS mine
            ), expired AS MATERIALIZED (
                SELECT %s, c.scope, c.key FROM {table} AS c
                WHERE (SELECT mine FROM turn) AND expires_at {>=} ? AND expires_at {<=} pg_catalog.now()
                  AND parked_at IS NULL AND status {<>} 'PARKED'
                  AND (greatest(claimed_at, CASE WHEN status {=} 'COMPLETED' THEN completed_at
                                                 WHEN status {=} 'HELD' THEN lease_until END)
                          {-} claimed_at) {<=} (pg_catalog.now() {-} expires_at)
                ORDER BY expires_at LIMIT ?
                FOR UPDATE SKIP LOCKED
            ), deleted AS (
                DELETE FROM {table} AS claim USING expired AS w WHERE %s
                RETURNING claim.expires_at
            )
            SELECT (SELECT mine FROM turn) AS mine, pg_catalog.count(*) AS rows, pg_catalog.max(expires_at) AS last FROM deleted""".formatted(ClaimTable.PLACE, ClaimTable.AT_PLACE);

    /**
     * Reads the age of the row that expires next, which the index on {@code expires_at} finds. It is the oldest row,
     * unless the retention was changed.
     */
    private static final String SURVEY = """
            SELECT (SELECT extract(epoch FROM greatest(pg_catalog.now() {-} claimed_at, interval '0')) {*} 1000000
                    FROM {table} WHERE parked_at IS NULL
                    ORDER BY expires_at LIMIT 1)::bigint AS oldest_micros""";

    /**
     * The result of deleting one batch.
     *
     * @param mine false if another instance is deleting
     * @param last the latest expiry of the deleted rows; {@code null} if no row was deleted
     */
    private record Batch(boolean mine, int rows, @Nullable OffsetDateTime last) {}

    /**
     * The result of {@link #SURVEY}.
     *
     * @param oldestMicros the time since the oldest row that can expire was claimed; {@code null} if there is none
     */
    private record Survey(@Nullable Long oldestMicros) {

        @Nullable Duration oldest() {
            return oldestMicros == null ? null : Duration.of(oldestMicros, ChronoUnit.MICROS);
        }
    }

    /** Waits between two batches. */
    public interface Pause {

        /**
         * Waits this long.
         *
         * @throws InterruptedException if the thread must stop
         */
        void of(Duration length) throws InterruptedException;
    }

    private final Statements statements;
    private final Supplier<String> delete;
    private final Supplier<String> survey;
    private final String remedy;
    private final int batchSize;
    private final List<RetentionObserver> observers;
    private final NanoClock nanoClock;
    private final Pause pause;
    private boolean failing;

    /**
     * Creates the deletion of expired claims.
     *
     * @param table the table to clean up; at most one of its connections is used at a time
     * @param batchSize limit of rows that one transaction deletes; at least 1
     * @param observers receive the results; their exceptions are ignored
     * @param nanoClock like {@link System#nanoTime()}
     * @param pause waits between two batches
     */
    public Retention(
            ClaimTable table, int batchSize, List<RetentionObserver> observers, NanoClock nanoClock, Pause pause) {
        this.statements = table.statements();
        this.delete = table.later(SETTINGS + DELETE);
        this.survey = table.later(SETTINGS + SURVEY);
        this.remedy = REMEDY.formatted(table.name());
        this.batchSize = batchSize;
        this.observers = List.copyOf(observers);
        this.nanoClock = nanoClock;
        this.pause = pause;
    }

    /**
     * Deletes expired claims, batch by batch, until none is left or another instance is deleting. The first failed
     * sweep is logged at WARN, and further failures at DEBUG. If the thread is interrupted, the sweep stops, and
     * batches that were committed stay deleted.
     */
    public void sweep() {
        try {
            deleteAll();
            Survey found = statements
                    .query(survey.get(), DataClassRowMapper.newInstance(Survey.class))
                    .get(0);
            Boundary.notifySafely(observers, observer -> observer.surveyed(found.oldest()));
            if (failing) {
                failing = false;
                log.info("Expired claims are deleted again");
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        } catch (ClaimStoreUnavailableException failure) {
            // The pool gives no connection to an interrupted thread. The thread is stopping, so this is not reported as
            // a failure.
            if (!Thread.currentThread().isInterrupted()) {
                failed(failure);
            }
        }
    }

    private void deleteAll() throws InterruptedException {
        long startNanos = nanoClock.nanoTime();
        OffsetDateTime from = START;
        while (true) {
            long batchStartNanos = nanoClock.nanoTime();
            Batch batch = statements
                    .query(delete.get(), DataClassRowMapper.newInstance(Batch.class), from, batchSize)
                    .get(0);
            if (!batch.mine()) {
                return;
            }
            Boundary.notifySafely(observers, observer -> observer.deleted(batch.rows()));
            OffsetDateTime last = batch.last();
            if (batch.rows() < batchSize || last == null) {
                break;
            }
            from = last;
            pause.of(since(batchStartNanos));
        }
        Duration elapsed = since(startNanos);
        Boundary.notifySafely(observers, observer -> observer.swept(elapsed));
    }

    private Duration since(long nanos) {
        return Duration.ofNanos(nanoClock.nanoTime() - nanos);
    }

    private void failed(RuntimeException failure) {
        Boundary.notifySafely(observers, RetentionObserver::sweepFailed);
        if (failing) {
            log.debug("Expired claims could still not be deleted", PrintableException.of(failure));
            return;
        }
        failing = true;
        log.warn(
                "Expired claims could not be deleted, so the claim table grows. The cleanup is retried, and this is"
                        + " logged again only after a success.{}",
                ClaimPool.sqlState(failure).equals(INSUFFICIENT_PRIVILEGE) ? remedy : "",
                PrintableException.of(failure));
    }
}
