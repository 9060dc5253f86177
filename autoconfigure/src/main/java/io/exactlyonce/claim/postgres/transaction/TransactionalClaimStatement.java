package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.BatchStatement;
import io.exactlyonce.claim.postgres.ClaimRow;
import io.exactlyonce.claim.postgres.jdbc.AdvisoryLock;
import io.exactlyonce.claim.postgres.jdbc.LeaseMicros;
import io.exactlyonce.primary.SynchronousCommit;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Takes a key's advisory lock and makes its first claim, or reads the row of an earlier claim, all in one
 * statement of an open transaction. It may be run again in the same transaction, which has the lock already.
 */
final class TransactionalClaimStatement {

    /**
     * {@code locked}: never waits. The transaction's commit waits for what claims' commits wait for, whatever the
     * database's own default, and never for less than the application asks for itself. And the transaction is marked with
     * the claim, until it ends: {@link TransactionalCompletion} asks for that.
     *
     * <p>{@code clock}: empty if the lock is not granted, and then nothing is written, read or waited for. It is read
     * after the lock was taken, or a transaction that rolled back meanwhile might have had a higher fencing token.
     *
     * <p>{@code claimed}: as in {@link BatchStatement}. Never waits for another transaction of this kind, which has the
     * lock. The insert proves that the server is a primary: a replica refuses the statement, also where the lock is not
     * granted.
     *
     * <p>{@code met}: what this statement's snapshot shows of a key that was not inserted. The snapshot is older than
     * the lock. A row that was committed in between is missing, and one that was changed in between is seen as it was:
     * a takeover checks that.
     */
    static final String STATEMENT = """
            WITH locked AS MATERIALIZED (
                SELECT pg_try_advisory_xact_lock(?) AS taken, set_config('synchronous_commit',
                    CASE WHEN coalesce(array_position(levels.least_first, current_setting('synchronous_commit')), 0)
                              < array_position(levels.least_first, ?)
                         THEN ? ELSE current_setting('synchronous_commit') END, true) AS durability,
                       set_config('exactly_once.claim_id', ?, true) AS marked
                FROM (SELECT ARRAY['off', 'local', 'remote_write', 'on', 'remote_apply'] AS least_first) AS levels
            ), clock AS MATERIALIZED (
                SELECT clock_timestamp() AS reading FROM locked WHERE locked.taken
            ), claimed AS (
                INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                                fingerprint, lease_until, first_claimed_at, claimed_at, expires_at)
                SELECT ?, ?, 'HELD', ?, ?, 1, (extract(epoch FROM clock.reading) * 1000000)::bigint, false,
                       decode(?, 'hex'), clock.reading + ? * interval '1 microsecond', clock.reading, clock.reading,
                       clock.reading + ? * interval '1 microsecond'
                FROM clock
                ON CONFLICT (scope, key) DO NOTHING
                RETURNING attempt, fencing_token, ambiguous
            ), met AS (
                SELECT
            """ + ClaimRow.COLUMNS + """
                FROM exactly_once_claim AS c
                WHERE c.scope = ? AND c.key = ? AND EXISTS (SELECT FROM clock) AND NOT EXISTS (SELECT FROM claimed)
            )
            SELECT locked.taken, claimed.attempt AS first_attempt, claimed.fencing_token AS first_token,
                   claimed.ambiguous AS first_ambiguous, met.*
            FROM locked LEFT JOIN claimed ON true LEFT JOIN met ON true
            """;

    /**
     * What became of the request. All is absent if the row of another transaction is too young to be seen.
     *
     * @param locked whether the key's lock is this transaction's
     * @param claimed the claim, if it was the key's first
     * @param met the key's row, if it had been claimed before
     */
    record Answer(
            boolean locked,
            @Nullable Acquired claimed,
            @Nullable ClaimRow met) {}

    private final JdbcTemplate jdbc;
    private final long retentionMicros;
    private final String durability;

    TransactionalClaimStatement(JdbcTemplate jdbc, Duration retention, SynchronousCommit synchronousCommit) {
        this.jdbc = jdbc;
        this.retentionMicros = LeaseMicros.of(retention);
        this.durability = synchronousCommit.setting();
    }

    Answer run(ClaimRequest request) {
        return Objects.requireNonNull(jdbc.query(STATEMENT, parameters -> bind(parameters, request), rows -> {
            rows.next();
            return answer(rows, request);
        }));
    }

    private void bind(PreparedStatement parameters, ClaimRequest request) throws SQLException {
        parameters.setLong(1, AdvisoryLock.number(request.key()));
        parameters.setString(2, durability);
        parameters.setString(3, durability);
        parameters.setString(4, request.claimId().toString());
        parameters.setString(5, request.key().scope());
        parameters.setString(6, request.key().key());
        parameters.setObject(7, request.claimId());
        parameters.setString(8, request.owner());
        parameters.setString(9, request.fingerprint());
        parameters.setLong(10, LeaseMicros.of(request.lease()));
        parameters.setLong(11, retentionMicros);
        parameters.setString(12, request.key().scope());
        parameters.setString(13, request.key().key());
    }

    private static Answer answer(ResultSet row, ClaimRequest request) throws SQLException {
        Acquired claimed = row.getObject("first_attempt") == null
                ? null
                : new Acquired(
                        row.getInt("first_attempt"), row.getLong("first_token"), row.getBoolean("first_ambiguous"));
        ClaimRow met = row.getString("status") == null ? null : ClaimRow.read(row, request.key());
        return new Answer(row.getBoolean("taken"), claimed, met);
    }
}
