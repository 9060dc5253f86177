package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.postgres.BatchStatement;
import io.exactlyonce.claim.postgres.ClaimRow;
import io.exactlyonce.claim.postgres.RequestedRow;
import io.exactlyonce.claim.postgres.jdbc.AdvisoryLock;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import io.exactlyonce.primary.SynchronousCommit;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Takes keys' advisory locks and makes their first claims, or reads the rows of earlier claims, all in one
 * statement of an open transaction. It may be run again in the same transaction, which has the locks already.
 */
final class TransactionalClaimStatement {

    private static final int ARRAYS = 7;

    /**
     * {@code marked}: the transaction's commit waits for what claims' commits wait for, whatever the database's own default,
     * and never for less than the application asks for itself. And the transaction is marked until it ends: {@link
     * TransactionalCompletion} asks for that.
     *
     * <p>{@code locked}: never waits. The arrays come from subqueries, so that the planner does not count their entries: it
     * would plan each run anew, for a number that the plan does not depend on.
     *
     * <p>{@code clock}: empty if no lock is granted, and then nothing is written, read or waited for. It is read
     * after the locks were taken, or a transaction that rolled back meanwhile might have had a higher fencing token.
     *
     * <p>{@code claimed}: as in {@link BatchStatement}. Never waits for another transaction of this kind, which has the
     * lock. The insert proves that the server is a primary: a replica refuses the statement, also where no lock is
     * granted.
     *
     * <p>{@code met}: what this statement's snapshot shows of a key that was not inserted. The snapshot is older than
     * the lock. A row that was committed in between is missing, and one that was changed in between is seen as it was:
     * a takeover checks that.
     */
    static final String STATEMENT = """
            WITH marked AS MATERIALIZED (
                SELECT set_config('synchronous_commit',
                    CASE WHEN coalesce(array_position(levels.least_first, current_setting('synchronous_commit')), 0)
                              < array_position(levels.least_first, ?)
                         THEN ? ELSE current_setting('synchronous_commit') END, true) AS durability,
                       set_config('exactly_once.transaction', ?, true) AS transaction
                FROM (SELECT ARRAY['off', 'local', 'remote_write', 'on', 'remote_apply'] AS least_first) AS levels
            ), locked AS MATERIALIZED (
                SELECT wanted.*, pg_try_advisory_xact_lock(wanted.number) AS taken
                FROM marked CROSS JOIN unnest((SELECT ?), (SELECT ?), (SELECT ?), (SELECT ?), (SELECT ?), (SELECT ?), (SELECT ?))
                     WITH ORDINALITY AS wanted (number, scope, key, claim_id, owner, lease_micros, fingerprint, position)
            ), clock AS MATERIALIZED (
                SELECT clock_timestamp() AS reading
                FROM (SELECT count(*) AS number FROM locked WHERE taken) AS granted WHERE granted.number > 0
            ), claimed AS (
                INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                                fingerprint, lease_until, first_claimed_at, claimed_at, expires_at)
                SELECT locked.scope, locked.key, 'HELD', locked.claim_id, locked.owner, 1,
                       (extract(epoch FROM clock.reading) * 1000000)::bigint, false, decode(locked.fingerprint, 'hex'),
                       clock.reading + locked.lease_micros * interval '1 microsecond', clock.reading, clock.reading,
                       clock.reading + ? * interval '1 microsecond'
                FROM locked CROSS JOIN clock
                WHERE locked.taken
                ORDER BY locked.position
                ON CONFLICT (scope, key) DO NOTHING
                RETURNING fencing_token, claim_id
            )
            SELECT locked.position, locked.taken, claimed.fencing_token AS first_token, met.*
            FROM locked
            LEFT JOIN claimed ON claimed.claim_id = locked.claim_id
            LEFT JOIN LATERAL (
                SELECT
            """ + ClaimRow.COLUMNS + """
                FROM exactly_once_claim AS c
                WHERE c.scope = locked.scope AND c.key = locked.key AND locked.taken AND claimed.claim_id IS NULL
                OFFSET 0
            ) AS met ON true
            """;

    private final JdbcTemplate jdbc;
    private final long retentionMicros;
    private final String durability;

    TransactionalClaimStatement(JdbcTemplate jdbc, Duration retention, SynchronousCommit synchronousCommit) {
        this.jdbc = jdbc;
        this.retentionMicros = ArrayParameters.micros(retention);
        this.durability = synchronousCommit.setting();
    }

    /**
     * Decides what it can: first claims, and keys that are not free. Of a key that is free its row is noted.
     *
     * @param open in key order, one for each key
     * @param mark marks the transaction until it ends
     */
    void run(List<RequestedRow> open, String mark) {
        jdbc.query(STATEMENT, parameters -> bind(parameters, open, mark), row -> {
            answer(row, open.get(row.getInt("position") - 1));
        });
    }

    private void bind(PreparedStatement parameters, List<RequestedRow> open, String mark) throws SQLException {
        parameters.setString(1, durability);
        parameters.setString(2, durability);
        parameters.setString(3, mark);
        int arrays = 4;
        new ArrayParameters<>(parameters, arrays, open)
                .bigint(entry -> AdvisoryLock.number(entry.key()))
                .text(entry -> entry.key().scope())
                .text(entry -> entry.key().key())
                .uuid(entry -> entry.request().claimId())
                .text(entry -> entry.request().owner())
                .bigint(entry -> ArrayParameters.micros(entry.request().lease()))
                .text(entry -> entry.request().fingerprint());
        parameters.setLong(arrays + ARRAYS, retentionMicros);
    }

    private static void answer(ResultSet row, RequestedRow entry) throws SQLException {
        if (!row.getBoolean("taken")) {
            // How long the holder will take is unknown: what a lease of our own would be is as good a guess as any.
            entry.decide(new HeldElsewhere(entry.request().lease()));
        } else if (row.getObject("first_token") != null) {
            entry.decide(new Acquired(1, row.getLong("first_token"), false));
        } else if (row.getString("status") == null) {
            entry.missed();
        } else {
            ClaimRow found = ClaimRow.read(row, entry.key());
            entry.met(found);
            if (!found.isFree()) {
                entry.decide(found.refusal(entry.request()));
            }
        }
    }
}
