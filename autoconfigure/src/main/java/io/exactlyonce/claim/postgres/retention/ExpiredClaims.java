package io.exactlyonce.claim.postgres.retention;

import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Deletes claims whose time is over, a batch in each transaction. Waits neither for another instance nor for a row that
 * another transaction works on. A claim of such a key meanwhile waits for as long as the batch takes.
 */
public final class ExpiredClaims {

    /** Where the first batch begins. */
    public static final OffsetDateTime START = OffsetDateTime.MIN; // PostgreSQL's -infinity

    /**
     * For this transaction only, and distinguished from other tables of this name by the table's own number, so that it
     * works through a pooler, and ends with the transaction however that ends. Plans are made once, maybe on a table so
     * young that reading all of it looks cheap: forbid that. A deletion that a crash forgets is made again, so no
     * commit waits for the disk. The number is arbitrary.
     */
    static final String TAKE_TURN = """
            SELECT pg_try_advisory_xact_lock(731744120, to_regclass('exactly_once_claim')::oid::integer)
            FROM set_config('enable_seqscan', 'off', true) AS plans, set_config('synchronous_commit', 'off', true) AS commits
            """;

    /**
     * {@code expires_at} is the retention counted from the claim, the first moment at which a row can expire at all. A
     * completed claim is kept for as long from its completion, and one that was never completed from the end of its
     * lease. Intervals are compared rather than added to times: the length of a day depends on the session's time zone.
     *
     * <p>{@code now()} is the transaction's start: unlike {@code clock_timestamp()} it can bound an index scan. The
     * batch before ended at the given time, so that what it left dead in the index is not read again.
     */
    static final String DELETE = """
            WITH expired AS MATERIALIZED (
                SELECT ctid AS place FROM exactly_once_claim
                WHERE expires_at >= ? AND expires_at <= now() AND parked_at IS NULL AND status <> 'PARKED'
                  AND greatest(claimed_at, CASE status WHEN 'COMPLETED' THEN completed_at WHEN 'HELD' THEN lease_until END)
                          - claimed_at <= now() - expires_at
                ORDER BY expires_at LIMIT ?
                FOR UPDATE SKIP LOCKED
            ), deleted AS (
                DELETE FROM exactly_once_claim WHERE ctid = ANY (ARRAY(SELECT place FROM expired))
                RETURNING expires_at
            )
            SELECT count(*) AS rows, max(expires_at) AS last FROM deleted
            """;

    /** The statement is planned once, maybe on a table so young that reading all of it looks cheap: forbid that. */
    static final String USE_THE_INDEXES = "SET LOCAL enable_seqscan = off";

    /** The oldest is the one that expires first. The two differ while rows of an earlier retention are there. */
    static final String SURVEY = """
            SELECT (SELECT extract(epoch FROM greatest(now() - claimed_at, interval '0')) * 1000000
                    FROM exactly_once_claim WHERE parked_at IS NULL
                    ORDER BY expires_at LIMIT 1)::bigint AS oldest_micros,
                   (SELECT count(*) FROM exactly_once_claim WHERE parked_at IS NOT NULL) AS parked
            """;

    private final RetryingTransaction transaction;
    private final JdbcTemplate jdbc;

    /**
     * What one transaction deleted.
     *
     * @param last the latest time at which one of the rows had expired, or {@code null} if there was none
     */
    record Batch(int rows, @Nullable OffsetDateTime last) {}

    /**
     * What was found.
     *
     * @param oldest time since the oldest claim that will expire, or {@code null} if there is none
     * @param parked claims that wait for an operator's decision
     */
    record Findings(@Nullable Duration oldest, long parked) {}

    public ExpiredClaims(DataSource dataSource) {
        this.transaction = new RetryingTransaction(dataSource);
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /**
     * Deletes a batch, those that expired first.
     *
     * @param from where the batch before ended
     * @param limit most rows
     * @return nothing if another instance deletes at this moment
     */
    public Optional<Batch> delete(OffsetDateTime from, int limit) {
        return transaction.execute(() -> {
            if (!Boolean.TRUE.equals(jdbc.queryForObject(TAKE_TURN, Boolean.class))) {
                return Optional.empty();
            }
            return Optional.ofNullable(jdbc.queryForObject(DELETE, ExpiredClaims::batch, from, limit));
        });
    }

    private static Batch batch(ResultSet row, int number) throws SQLException {
        return new Batch(row.getInt("rows"), row.getObject("last", OffsetDateTime.class));
    }

    /** Looks at the table as a whole, by its indexes alone. */
    public Findings look() {
        return transaction.execute(() -> {
            jdbc.execute(USE_THE_INDEXES);
            return jdbc.query(SURVEY, ExpiredClaims::findings).get(0);
        });
    }

    private static Findings findings(ResultSet row, int number) throws SQLException {
        long micros = row.getLong("oldest_micros");
        Duration oldest = row.wasNull() ? null : Duration.of(micros, ChronoUnit.MICROS);
        return new Findings(oldest, row.getLong("parked"));
    }
}
