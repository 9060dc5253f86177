package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What the {@link BatchStatement} says to make first claims, and to read the rows of keys that are claimed already. */
final class FirstClaimsSql {

    private static final int ARRAYS = 6;

    /**
     * {@code clock} is read once, so that all first claims of a batch have the same fencing token: the time in
     * microseconds, so that a key whose row was deleted comes back with a higher one.
     *
     * <p>{@code claimed} waits for a concurrent first claim of the same key to commit or roll back.
     */
    static final String EXPRESSIONS = """
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
    static final String ANSWER = """
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

    private FirstClaimsSql() {}

    static void bind(PreparedStatement parameters, int first, List<ClaimRequest> claims, Duration retention)
            throws SQLException {
        new ArrayParameters<>(parameters, first, claims)
                .text(request -> request.key().scope())
                .text(request -> request.key().key())
                .uuid(ClaimRequest::claimId)
                .text(ClaimRequest::owner)
                .bigint(request -> ArrayParameters.micros(request.lease()))
                .text(ClaimRequest::fingerprint);
        parameters.setLong(first + ARRAYS, ArrayParameters.micros(retention));
    }
}
