package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.postgres.jdbc.AdvisoryLock;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import io.exactlyonce.claim.postgres.jdbc.SingleRoundTripQuery;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Looks at keys for deliveries that wait for them. A key that no row holds may be held nevertheless, by a transaction that has
 * not committed its row yet: that one has the key's advisory lock. The look tries the lock, shared so that two looks do not
 * see each other, and gives it back with the end of its transaction.
 *
 * <p>A row that is free but locked cannot be taken over: its former holder has fenced a transaction, or another
 * transaction is just writing it. It counts as held until that is over.
 *
 * <p>A transaction that claims a free key in the very moment of a look takes the look for a holder, and its delivery waits;
 * the next look finds the key free. One that commits between a look's snapshot and its try of the lock makes a completed
 * key look free. Either costs its delivery one receive.
 */
final class KeyStateQuery {

    /**
     * The update changes nothing, ever. It makes the statement a write, which no proxy sends to a replica, and which a
     * replica refuses. {@code OFFSET 0} keeps the look-ups by primary key from becoming a join, as in {@link BatchStatement}.
     */
    static final String SELECT = """
            WITH on_the_primary AS (UPDATE exactly_once_claim SET owner = owner WHERE false)
            SELECT wanted.position,
                   CASE
                       WHEN claim.status IN ('COMPLETED', 'PARKED') THEN claim.status
                       WHEN claim.status = 'HELD' AND claim.lease_until > clock_timestamp() THEN 'HELD'
                       WHEN NOT pg_try_advisory_xact_lock_shared(wanted.lock) THEN 'HELD'
                       WHEN claim.status IS NULL OR EXISTS (
                           SELECT 1 FROM exactly_once_claim AS c
                           WHERE c.scope = wanted.scope AND c.key = wanted.key FOR UPDATE SKIP LOCKED) THEN 'FREE'
                       ELSE 'HELD'
                   END AS state
            FROM unnest(?, ?, ?) WITH ORDINALITY AS wanted (scope, key, lock, position)
            LEFT JOIN LATERAL (
                SELECT c.status, c.lease_until
                FROM exactly_once_claim AS c WHERE c.scope = wanted.scope AND c.key = wanted.key OFFSET 0
            ) AS claim ON true
            """;

    private final SingleRoundTripQuery query;

    /** @param query of {@link #SELECT} */
    KeyStateQuery(SingleRoundTripQuery query) {
        this.query = query;
    }

    Map<ClaimKey, KeyState> read(List<ClaimKey> keys) {
        Map<ClaimKey, KeyState> states = new HashMap<>();
        query.query(statement -> bind(statement, keys), row -> {
            states.put(keys.get(row.getInt("position") - 1), KeyState.valueOf(row.getString("state")));
        });
        return states;
    }

    private static void bind(PreparedStatement statement, List<ClaimKey> keys) throws SQLException {
        new ArrayParameters<>(statement, 1, keys)
                .text(ClaimKey::scope)
                .text(ClaimKey::key)
                .bigint(AdvisoryLock::number);
    }
}
