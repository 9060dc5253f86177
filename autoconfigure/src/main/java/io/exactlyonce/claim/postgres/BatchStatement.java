package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Ends claims and makes first claims, and reads the rows of the keys that somebody has claimed before: all in one
 * statement, which is its own transaction. Reading in the statement that writes keeps to the primary, also where a proxy
 * sends reads elsewhere.
 */
final class BatchStatement {

    /**
     * {@code ending}: each row is looked up by primary key ({@code OFFSET 0} keeps the planner from a join that reads the
     * whole table or index) and locked, unless somebody else has: a batch must not hang on a transaction of an
     * application's that has taken a key over. It asks for the claim and not for its lease, since nobody has taken the key
     * over as long as the claim's id is there. A row that somebody else changed after this statement began is locked, but not
     * updated: the statement does not see its new version. Such an end is reported as not {@code done}.
     *
     * <p>{@code passed}: ends of claims that hold their keys as far as this statement's snapshot shows, but whose rows were
     * locked. They are neither done nor lost.
     *
     * <p>{@code ended}: repeatable, the first completion's result and time stay. {@code parked_at} is set with the status
     * PARKED and only then, which the index of parked claims relies on.
     *
     * <p>{@code claimed}: waits for a concurrent first claim of the same key to commit or roll back. The first fencing
     * token is the time in microseconds, so that a key whose row was deleted comes back with a higher one.
     *
     * <p>{@code met}: what this statement's snapshot shows of the keys that were not inserted. A row that is too young for
     * it is missing.
     */
    static final String STATEMENT = """
            WITH ends AS MATERIALIZED (
                SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?) WITH ORDINALITY
                         AS request (scope, key, claim_id, status, result, error, ambiguous, position)
            ), ending AS MATERIALIZED (
                SELECT wanted.position, wanted.status, wanted.result, wanted.error, wanted.ambiguous, found.row
                FROM ends AS wanted
                CROSS JOIN LATERAL (
                    SELECT c.ctid AS row FROM exactly_once_claim AS c
                    WHERE c.scope = wanted.scope AND c.key = wanted.key AND c.claim_id = wanted.claim_id
                      AND (c.status = 'HELD' OR (c.status = 'COMPLETED' AND wanted.status = 'COMPLETED'))
                    OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED
                ) AS found
            ), passed AS (
                SELECT wanted.position
                FROM ends AS wanted
                CROSS JOIN LATERAL (
                    SELECT 1 FROM exactly_once_claim AS c
                    WHERE c.scope = wanted.scope AND c.key = wanted.key AND c.claim_id = wanted.claim_id
                      AND (c.status = 'HELD' OR (c.status = 'COMPLETED' AND wanted.status = 'COMPLETED'))
                    OFFSET 0
                ) AS found
                WHERE wanted.position NOT IN (SELECT position FROM ending)
            ), ended AS (
                UPDATE exactly_once_claim AS claim
                SET status = ending.status,
                    result = CASE WHEN claim.status = 'COMPLETED' THEN claim.result ELSE ending.result END,
                    error = coalesce(ending.error, claim.error),
                    ambiguous = claim.ambiguous OR ending.ambiguous,
                    completed_at = CASE WHEN ending.status = 'COMPLETED'
                                        THEN coalesce(claim.completed_at, clock_timestamp())
                                        ELSE claim.completed_at END,
                    parked_at = CASE WHEN ending.status = 'PARKED' THEN clock_timestamp() ELSE claim.parked_at END
                FROM ending
                WHERE claim.ctid = ending.row
                RETURNING ending.position
            ), wanted AS MATERIALIZED (
                SELECT * FROM unnest(?, ?, ?, ?, ?, ?) WITH ORDINALITY
                                  AS request (scope, key, claim_id, owner, lease_micros, fingerprint, position)
            ), claimed AS (
                INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                                fingerprint, lease_until, first_claimed_at, claimed_at, expires_at)
                SELECT wanted.scope, wanted.key, 'HELD', wanted.claim_id, wanted.owner, 1,
                       (extract(epoch FROM clock.reading) * 1000000)::bigint, false, decode(wanted.fingerprint, 'hex'),
                       clock.reading + wanted.lease_micros * interval '1 microsecond', clock.reading, clock.reading,
                       clock.reading + ? * interval '1 microsecond'
                FROM wanted CROSS JOIN (SELECT clock_timestamp() AS reading) AS clock
                ORDER BY wanted.position
                ON CONFLICT (scope, key) DO NOTHING
                RETURNING claim_id, attempt, fencing_token, ambiguous
            ), met AS (
                SELECT wanted.position, found.*
                FROM wanted
                CROSS JOIN LATERAL (
                    SELECT
            """ + ClaimRow.COLUMNS + """
                    FROM exactly_once_claim AS c WHERE c.scope = wanted.scope AND c.key = wanted.key OFFSET 0
                ) AS found
                WHERE wanted.claim_id NOT IN (SELECT claim_id FROM claimed)
            )
            SELECT 'ending' AS what, position, position IN (SELECT position FROM ended) AS done, NULL::uuid AS claim_id,
                   NULL AS status, NULL::integer AS attempt, NULL::bigint AS fencing_token, NULL::boolean AS ambiguous,
                   NULL AS result, NULL AS fingerprint, NULL::bigint AS remaining_micros, NULL::bigint AS next_token,
                   NULL::boolean AS cleared
            FROM ending
            UNION ALL
            SELECT 'passed', position, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM passed
            UNION ALL
            SELECT 'claimed', NULL, NULL, claim_id, NULL, attempt, fencing_token, ambiguous, NULL, NULL, NULL, NULL, NULL
            FROM claimed
            UNION ALL
            SELECT 'met', position, NULL, claim_id, status, attempt, fencing_token, ambiguous, result, fingerprint,
                   remaining_micros, next_token, cleared
            FROM met
            """;

    private static final int FIRST_OF_ENDS = 1;
    private static final int FIRST_OF_CLAIMS = 8;
    private static final int RETENTION = 14;

    private final OneRoundTrip statement;
    private final Duration retention;

    BatchStatement(JdbcTemplate jdbc, StatementSettings settings, Duration retention) {
        this.statement = new OneRoundTrip(jdbc, settings.lookUpRowsAndWaitBriefly(), STATEMENT);
        this.retention = retention;
    }

    /**
     * Both lists come in key order, with no key and no claim's id twice in them.
     *
     * @return what became of them
     */
    BatchAnswer run(List<ClaimEnd> ends, List<ClaimRequest> claims) {
        BatchAnswer answer = new BatchAnswer();
        Map<UUID, ClaimRequest> byId = new HashMap<>();
        claims.forEach(request -> byId.put(request.claimId(), request));
        statement.query(parameters -> bind(parameters, ends, claims), row -> {
            switch (row.getString("what")) {
                case "ending" -> answer.ending(ends.get(position(row)).claim(), row.getBoolean("done"));
                case "passed" -> answer.locked(ends.get(position(row)).claim());
                case "claimed" -> {
                    ClaimRequest request = Objects.requireNonNull(byId.get(row.getObject("claim_id", UUID.class)));
                    answer.claimed(request.id(), acquired(row));
                }
                default ->
                    answer.met(ClaimRow.read(row, claims.get(position(row)).key()));
            }
        });
        return answer;
    }

    private void bind(PreparedStatement parameters, List<ClaimEnd> ends, List<ClaimRequest> claims)
            throws SQLException {
        new SqlArrays<>(parameters, FIRST_OF_ENDS, ends)
                .text(end -> end.claim().key().scope())
                .text(end -> end.claim().key().key())
                .uuid(end -> end.claim().value())
                .text(end -> end.status().name())
                .text(ClaimEnd::result)
                .text(ClaimEnd::error)
                .bool(ClaimEnd::ambiguous);
        new SqlArrays<>(parameters, FIRST_OF_CLAIMS, claims)
                .text(request -> request.key().scope())
                .text(request -> request.key().key())
                .uuid(ClaimRequest::claimId)
                .text(ClaimRequest::owner)
                .bigint(request -> LeaseMicros.of(request.lease()))
                .text(ClaimRequest::fingerprint);
        parameters.setLong(RETENTION, LeaseMicros.of(retention));
    }

    private static int position(ResultSet row) throws SQLException {
        return row.getInt("position") - 1;
    }

    private static Acquired acquired(ResultSet row) throws SQLException {
        return new Acquired(row.getInt("attempt"), row.getLong("fencing_token"), row.getBoolean("ambiguous"));
    }
}
