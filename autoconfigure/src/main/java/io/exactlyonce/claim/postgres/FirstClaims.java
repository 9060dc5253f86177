package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** Claims keys that nobody has claimed yet, and leaves all others alone. */
final class FirstClaims {

    /**
     * Waits for a concurrent first claim of the same key to commit or roll back. Rows go in by the order of the arrays,
     * which is the order in which every batch locks rows. The first fencing token is the time in microseconds, so that a
     * key whose row was deleted comes back with a higher one.
     */
    private static final String INSERT = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                            fingerprint, lease_until, first_claimed_at, claimed_at, expires_at)
            SELECT wanted.scope, wanted.key, 'HELD', wanted.claim_id, wanted.owner, 1,
                   (extract(epoch FROM clock.reading) * 1000000)::bigint, false, decode(wanted.fingerprint, 'hex'),
                   clock.reading + wanted.lease_micros * interval '1 microsecond', clock.reading, clock.reading,
                   clock.reading + ? * interval '1 microsecond'
            FROM unnest(?, ?, ?, ?, ?, ?) WITH ORDINALITY
                     AS wanted (scope, key, claim_id, owner, lease_micros, fingerprint, position)
            CROSS JOIN (SELECT clock_timestamp() AS reading) AS clock
            ORDER BY wanted.position
            ON CONFLICT (scope, key) DO NOTHING
            RETURNING scope, key, attempt, fencing_token, ambiguous
            """;

    private final JdbcTemplate jdbc;
    private final Duration retention;

    FirstClaims(JdbcTemplate jdbc, Duration retention) {
        this.jdbc = jdbc;
        this.retention = retention;
    }

    /** Returns the keys that were acquired. The requests come in key order, each key once. */
    Map<ClaimKey, Acquired> claim(List<ClaimRequest> requests) {
        Map<ClaimKey, Acquired> acquired = new HashMap<>();
        jdbc.query(INSERT, statement -> bind(statement, requests), row -> {
            acquired.put(new ClaimKey(row.getString("scope"), row.getString("key")), acquired(row));
        });
        return acquired;
    }

    private void bind(PreparedStatement statement, List<ClaimRequest> requests) throws SQLException {
        statement.setLong(1, LeaseMicros.of(retention));
        SqlArrays.bind(statement, 2, "text", requests, request -> request.key().scope());
        SqlArrays.bind(statement, 3, "text", requests, request -> request.key().key());
        SqlArrays.bind(statement, 4, "uuid", requests, ClaimRequest::claimId);
        SqlArrays.bind(statement, 5, "text", requests, ClaimRequest::owner);
        SqlArrays.bind(statement, 6, "int8", requests, request -> LeaseMicros.of(request.lease()));
        SqlArrays.bind(statement, 7, "text", requests, ClaimRequest::fingerprint);
    }

    private static Acquired acquired(ResultSet row) throws SQLException {
        return new Acquired(row.getInt("attempt"), row.getLong("fencing_token"), row.getBoolean("ambiguous"));
    }
}
