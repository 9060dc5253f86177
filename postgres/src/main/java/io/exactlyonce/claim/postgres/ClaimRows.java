package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeyStatus;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Reads the rows of keys in one statement. */
public final class ClaimRows {

    /**
     * Joins each key {@code w} with its row {@code c}. {@code LIMIT 1} makes PostgreSQL look up each key by the primary
     * key, instead of reading the whole table.
     */
    private static final String ROWS = """

            CROSS JOIN LATERAL (
                SELECT c.claim_id, c.status, c.attempt, c.fencing_token, c.in_doubt, c.result,
                       pg_catalog.encode(c.fingerprint, 'hex') AS fingerprint, c.cleared, c.failures,
                       pg_catalog.ceil(extract(epoch FROM c.lease_until {-} pg_catalog.clock_timestamp()) {*} 1000000)::bigint
                           AS remaining_micros,
                       greatest(c.fencing_token {+} 1, (extract(epoch FROM pg_catalog.clock_timestamp()) {*} 1000000)::bigint)
                           AS next_token
                FROM {table} AS c WHERE c.scope {=} w.scope AND c.key {=} w.key LIMIT 1
            ) AS c""";

    /**
     * The {@code FROM} clause of a lookup of several keys. {@code w.n} is the position of a key in the list, beginning
     * with 1, and {@code c} is the key's row. {@link #read} expects these names.
     */
    public static final String BY_KEY =
            "unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[])) WITH ORDINALITY AS w (scope, key, n)"
                    + ROWS;

    /**
     * The same as {@link #BY_KEY}, for one key. Plain parameters are cheaper than arrays.
     *
     * <p>Also restores the planner's setting that {@link Statements#ONLY_BY_INDEX} changed. This is done in {@code w},
     * so that it also happens if the key has no row.
     */
    public static final String BY_ONE_KEY = "(SELECT ?::pg_catalog.text AS scope, ?::pg_catalog.text AS key, 1 AS n, ("
            + Statements.AS_BEFORE + ") AS planning) AS w" + ROWS;

    /** Selects the rows of keys. Needs {@link Statements#SETTINGS} in front. */
    static final String OF_KEYS = "SELECT w.n, c.*\nFROM " + BY_KEY;

    private ClaimRows() {}

    /**
     * Runs {@link #OF_KEYS}. A key without a row is missing from the returned map.
     *
     * @param statement {@link #OF_KEYS}, with {@link Statements#SETTINGS} in front
     */
    static Map<ClaimKey, KeySnapshot> read(PreparedStatement statement, List<ClaimKey> keys) throws SQLException {
        new Parameters(statement).keys(keys, key -> key);
        return read(Statements.answer(statement), keys);
    }

    /**
     * Reads the result of {@link #BY_KEY} or {@link #BY_ONE_KEY}. A key without a row is missing from the returned map.
     */
    public static Map<ClaimKey, KeySnapshot> read(ResultSet row, List<ClaimKey> keys) throws SQLException {
        Map<ClaimKey, KeySnapshot> rows = new HashMap<>();
        while (row.next()) {
            rows.put(keys.get(row.getInt("n") - 1), snapshot(row));
        }
        return rows;
    }

    private static KeySnapshot snapshot(ResultSet row) throws SQLException {
        return new KeySnapshot(
                KeyStatus.valueOf(row.getString("status")),
                row.getObject("claim_id", UUID.class),
                row.getInt("attempt"),
                row.getLong("fencing_token"),
                row.getBoolean("in_doubt"),
                row.getBoolean("cleared"),
                Duration.of(row.getLong("remaining_micros"), ChronoUnit.MICROS),
                row.getLong("next_token"),
                row.getString("fingerprint"),
                row.getString("result"),
                row.getInt("failures"));
    }
}
