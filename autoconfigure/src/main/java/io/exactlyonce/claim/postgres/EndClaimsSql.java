package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimEnd.Completed;
import io.exactlyonce.claim.ClaimEnd.Parked;
import io.exactlyonce.claim.ClaimEnd.Released;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the {@link BatchStatement} says to end claims. */
final class EndClaimsSql {

    static final int PARAMETERS = 7;

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
    static final String EXPRESSIONS = """
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
    static final String ANSWER = """
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

    private EndClaimsSql() {}

    static void bind(PreparedStatement parameters, int first, List<ClaimEnd> ends) throws SQLException {
        new ArrayParameters<>(parameters, first, ends)
                .text(end -> end.claim().key().scope())
                .text(end -> end.claim().key().key())
                .uuid(end -> end.claim().value())
                .text(end -> status(end).name())
                .text(end -> end instanceof Completed completed ? completed.result() : null)
                .text(EndClaimsSql::error)
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
}
