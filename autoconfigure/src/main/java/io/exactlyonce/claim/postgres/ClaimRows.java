package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Reads keys' rows. Only to be used after a write in the same transaction: a proxy that splits reads and writes keeps
 * to the primary then.
 */
final class ClaimRows {

    /**
     * {@code OFFSET 0} keeps the planner from turning the look-ups by primary key into a join, for which it would read
     * the whole table or the whole index: it plans this statement once, maybe while the table is still empty.
     */
    static final String SELECT = """
            SELECT claim.scope, claim.key, claim.claim_id, claim.status, claim.attempt, claim.fencing_token,
                   claim.ambiguous, claim.result, encode(claim.fingerprint, 'hex') AS fingerprint,
                   claim.parked_at IS NOT NULL AS cleared,
                   ceil(extract(epoch FROM claim.lease_until - clock_timestamp()) * 1000000)::bigint
                       AS remaining_micros,
                   greatest(claim.fencing_token + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
                       AS next_token
            FROM unnest(?, ?) AS wanted (scope, key)
            CROSS JOIN LATERAL (
                SELECT * FROM exactly_once_claim AS c WHERE c.scope = wanted.scope AND c.key = wanted.key OFFSET 0
            ) AS claim
            """;

    private final JdbcTemplate jdbc;

    ClaimRows(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the rows that exist. */
    Map<ClaimKey, ClaimRow> read(List<ClaimKey> keys) {
        Map<ClaimKey, ClaimRow> rows = new HashMap<>();
        jdbc.query(SELECT, statement -> bind(statement, keys), row -> {
            ClaimRow claim = map(row);
            rows.put(claim.key(), claim);
        });
        return rows;
    }

    private static void bind(PreparedStatement statement, List<ClaimKey> keys) throws SQLException {
        SqlArrays.bind(statement, 1, "text", keys, ClaimKey::scope);
        SqlArrays.bind(statement, 2, "text", keys, ClaimKey::key);
    }

    private static ClaimRow map(ResultSet row) throws SQLException {
        return new ClaimRow(
                new ClaimKey(row.getString("scope"), row.getString("key")),
                row.getObject("claim_id", UUID.class),
                ClaimRow.Status.valueOf(row.getString("status")),
                row.getInt("attempt"),
                row.getLong("fencing_token"),
                row.getBoolean("ambiguous"),
                row.getLong("remaining_micros"),
                row.getString("result"),
                row.getLong("next_token"),
                row.getString("fingerprint"),
                row.getBoolean("cleared"));
    }
}
