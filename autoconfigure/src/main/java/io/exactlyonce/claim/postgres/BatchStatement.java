package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimEnd.Completed;
import io.exactlyonce.claim.ClaimEnd.Parked;
import io.exactlyonce.claim.ClaimEnd.Released;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import io.exactlyonce.claim.postgres.jdbc.SingleRoundTripQuery;
import io.exactlyonce.claim.postgres.jdbc.StatementSettings;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Ends claims and makes first claims, and reads the rows of the keys that were claimed before: all in one
 * statement, which is its own transaction. Reading in the statement that writes keeps to the primary, also where a proxy
 * sends reads elsewhere.
 *
 * <p>It has no part that has nothing to do, and answers with two counts and what did not go as usual: most of the time
 * there is nothing of that kind.
 */
final class BatchStatement {

    private static final int PARAMETERS_OF_ENDS = 7;
    private static final int ARRAYS_OF_CLAIMS = 6;

    /**
     * {@code ending}: each row is looked up by primary key ({@code OFFSET 0} keeps the planner from a join that reads the
     * whole table or index) and locked, unless another transaction has: a batch must not hang on a transaction of an
     * application's that has taken a key over. It asks for the claim and not for its lease, since no takeover has
     * happened as long as the claim's id is there. A row that another transaction changed after this statement began is
     * locked, but not updated: the statement does not see its new version.
     *
     * <p>{@code ended}: repeatable, the first completion's result and time stay. {@code parked_at} is set with the status
     * PARKED and only then, which the index of parked claims relies on.
     */
    private static final String ENDING = """
            ends AS MATERIALIZED (
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
            )
            """;

    /**
     * How many ends were written, and each one that was not: {@code changed} if its row was changed meanwhile,
     * {@code passed} if the claim holds its key as far as this statement's snapshot shows, but the row was locked, and
     * {@code lost} if it does not hold its key.
     */
    private static final String ENDED = """
            SELECT 'ended' AS what, count(*) AS number, NULL::uuid AS claim_id, NULL AS status, NULL::integer AS attempt,
                   NULL::bigint AS fencing_token, NULL::boolean AS ambiguous, NULL AS result, NULL AS fingerprint,
                   NULL::boolean AS cleared, NULL::bigint AS remaining_micros, NULL::bigint AS next_token
            FROM ended
            UNION ALL
            SELECT CASE WHEN wanted.position IN (SELECT position FROM ending) THEN 'changed'
                        WHEN found.held THEN 'passed'
                        ELSE 'lost' END,
                   wanted.position, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM ends AS wanted
            LEFT JOIN LATERAL (
                SELECT true AS held FROM exactly_once_claim AS c
                WHERE c.scope = wanted.scope AND c.key = wanted.key AND c.claim_id = wanted.claim_id
                  AND (c.status = 'HELD' OR (c.status = 'COMPLETED' AND wanted.status = 'COMPLETED'))
                OFFSET 0
            ) AS found ON true
            WHERE wanted.position NOT IN (SELECT position FROM ended)
            """;

    /**
     * {@code clock} is read once, so that all first claims of a batch have the same fencing token: the time in
     * microseconds, so that a key whose row was deleted comes back with a higher one.
     *
     * <p>{@code claimed} waits for a concurrent first claim of the same key to commit or roll back.
     */
    private static final String CLAIMING = """
            wanted AS MATERIALIZED (
                SELECT * FROM unnest(?, ?, ?, ?, ?, ?) WITH ORDINALITY
                                  AS request (scope, key, claim_id, owner, lease_micros, fingerprint, position)
            ), clock AS MATERIALIZED (
                SELECT clock_timestamp() AS reading
            ), claimed AS (
                INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                                fingerprint, lease_until, first_claimed_at, claimed_at, expires_at)
                SELECT wanted.scope, wanted.key, 'HELD', wanted.claim_id, wanted.owner, 1,
                       (extract(epoch FROM clock.reading) * 1000000)::bigint, false, decode(wanted.fingerprint, 'hex'),
                       clock.reading + wanted.lease_micros * interval '1 microsecond', clock.reading, clock.reading,
                       clock.reading + ? * interval '1 microsecond'
                FROM wanted CROSS JOIN clock
                ORDER BY wanted.position
                ON CONFLICT (scope, key) DO NOTHING
                RETURNING claim_id, fencing_token
            )
            """;

    /**
     * How many keys were claimed for the first time, and with which token; and of each other one, {@code met}, what this
     * statement's snapshot shows. Of a row that is too young for it there is only the key's position.
     */
    private static final String CLAIMED = """
            SELECT 'claimed' AS what, count(*) AS number, NULL AS claim_id, NULL AS status, NULL AS attempt,
                   max(fencing_token) AS fencing_token, NULL AS ambiguous, NULL AS result, NULL AS fingerprint,
                   NULL AS cleared, NULL AS remaining_micros, NULL AS next_token
            FROM claimed
            UNION ALL
            SELECT 'met', wanted.position, found.*
            FROM wanted
            LEFT JOIN LATERAL (
                SELECT
            """ + ClaimRow.COLUMNS + """
                FROM exactly_once_claim AS c WHERE c.scope = wanted.scope AND c.key = wanted.key OFFSET 0
            ) AS found ON true
            WHERE wanted.claim_id NOT IN (SELECT claim_id FROM claimed)
            """;

    static final String ENDS = "WITH " + ENDING + ENDED;

    static final String CLAIMS = "WITH " + CLAIMING + CLAIMED;

    static final String BOTH = "WITH " + ENDING + ", " + CLAIMING + ENDED + "UNION ALL\n" + CLAIMED;

    private final SingleRoundTripQuery ending;
    private final SingleRoundTripQuery claiming;
    private final SingleRoundTripQuery both;
    private final Duration retention;

    BatchStatement(JdbcTemplate jdbc, StatementSettings settings, Duration retention) {
        String before = settings.lookUpRowsAndWaitBriefly();
        this.ending = SingleRoundTripQuery.transaction(jdbc, before, ENDS);
        this.claiming = SingleRoundTripQuery.transaction(jdbc, before, CLAIMS);
        this.both = SingleRoundTripQuery.transaction(jdbc, before, BOTH);
        this.retention = retention;
    }

    /**
     * Both lists come in key order, with no key and no claim's id twice in them, and not both are empty.
     *
     * @return what became of them
     */
    BatchReply run(List<ClaimEnd> ends, List<ClaimRequest> claims) {
        BatchReply reply = new BatchReply(ends, claims);
        if (claims.isEmpty()) {
            ending.query(parameters -> bindEnds(parameters, ends), reply::read);
        } else if (ends.isEmpty()) {
            claiming.query(parameters -> bindClaims(parameters, 1, claims), reply::read);
        } else {
            both.query(
                    parameters -> {
                        bindEnds(parameters, ends);
                        bindClaims(parameters, 1 + PARAMETERS_OF_ENDS, claims);
                    },
                    reply::read);
        }
        return reply.complete();
    }

    private static void bindEnds(PreparedStatement parameters, List<ClaimEnd> ends) throws SQLException {
        new ArrayParameters<>(parameters, 1, ends)
                .text(end -> end.claim().key().scope())
                .text(end -> end.claim().key().key())
                .uuid(end -> end.claim().value())
                .text(end -> status(end).name())
                .text(end -> end instanceof Completed completed ? completed.result() : null)
                .text(BatchStatement::error)
                .bool(ClaimEnd::ambiguous);
    }

    private static ClaimRow.Status status(ClaimEnd end) {
        if (end instanceof Completed) {
            return ClaimRow.Status.COMPLETED;
        }
        return end instanceof Released ? ClaimRow.Status.RELEASED : ClaimRow.Status.PARKED;
    }

    /** Returns what the end leaves for people, or {@code null} if it is a good one. */
    private static @Nullable String error(ClaimEnd end) {
        if (end instanceof Released released) {
            return released.error();
        }
        return end instanceof Parked parked ? parked.reason() : null;
    }

    private void bindClaims(PreparedStatement parameters, int first, List<ClaimRequest> claims) throws SQLException {
        new ArrayParameters<>(parameters, first, claims)
                .text(request -> request.key().scope())
                .text(request -> request.key().key())
                .uuid(ClaimRequest::claimId)
                .text(ClaimRequest::owner)
                .bigint(request -> ArrayParameters.micros(request.lease()))
                .text(ClaimRequest::fingerprint);
        parameters.setLong(first + ARRAYS_OF_CLAIMS, ArrayParameters.micros(retention));
    }
}
