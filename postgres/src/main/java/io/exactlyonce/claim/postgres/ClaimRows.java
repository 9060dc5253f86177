package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A key's row as one statement saw it.
 *
 * @param remainingMicros the rest of the lease by the database's clock; not positive if it had expired
 * @param nextToken the fencing token of the next claim of this key
 * @param fingerprint of the payload that the key was last claimed for, or {@code null} if unknown
 * @param cleared whether an operator has released the key since; only for one that is released
 */
public record ClaimRow(
        ClaimKey key,
        UUID claimId,
        Status status,
        int attempt,
        long fencingToken,
        boolean inDoubt,
        long remainingMicros,
        @Nullable String result,
        long nextToken,
        @Nullable String fingerprint,
        boolean cleared) {

    /**
     * Keys {@code w}, numbered by {@code n}, with the rows that they have, {@code c}, by the names that {@link #read} reads.
     * {@code LIMIT 1} prevents a join, which would read the whole table or index.
     */
    public static final String BY_KEY = """
            unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[])) WITH ORDINALITY AS w (scope, key, n)
            CROSS JOIN LATERAL (
                SELECT c.claim_id, c.status, c.attempt, c.fencing_token, c.in_doubt, c.result,
                       pg_catalog.encode(c.fingerprint, 'hex') AS fingerprint, c.cleared,
                       pg_catalog.ceil(extract(epoch FROM c.lease_until {-} pg_catalog.clock_timestamp()) {*} 1000000)::bigint
                           AS remaining_micros,
                       greatest(c.fencing_token {+} 1, (extract(epoch FROM pg_catalog.clock_timestamp()) {*} 1000000)::bigint)
                           AS next_token
                FROM {table} AS c WHERE c.scope {=} w.scope AND c.key {=} w.key LIMIT 1
            ) AS c""";

    /** The rows of keys, behind settings. */
    static final String OF_KEYS = "SELECT w.n, c.*\nFROM " + BY_KEY;

    public enum Status {
        HELD,
        COMPLETED,
        RELEASED,
        PARKED
    }

    /**
     * Reads the rows of keys, in one round trip.
     *
     * @param statement {@link #OF_KEYS} behind settings
     */
    static Map<ClaimKey, ClaimRow> read(PreparedStatement statement, List<ClaimKey> keys) throws SQLException {
        new Parameters(statement).keys(keys, key -> key);
        return read(Statements.answer(statement), keys);
    }

    /** Reads {@link #BY_KEY}: the rows that are there. */
    public static Map<ClaimKey, ClaimRow> read(ResultSet row, List<ClaimKey> keys) throws SQLException {
        Map<ClaimKey, ClaimRow> rows = new HashMap<>();
        while (row.next()) {
            ClaimKey key = keys.get(row.getInt("n") - 1);
            rows.put(key, read(row, key));
        }
        return rows;
    }

    private static ClaimRow read(ResultSet row, ClaimKey key) throws SQLException {
        return new ClaimRow(
                key,
                row.getObject("claim_id", UUID.class),
                Status.valueOf(row.getString("status")),
                row.getInt("attempt"),
                row.getLong("fencing_token"),
                row.getBoolean("in_doubt"),
                row.getLong("remaining_micros"),
                row.getString("result"),
                row.getLong("next_token"),
                row.getString("fingerprint"),
                row.getBoolean("cleared"));
    }

    boolean isHeldBy(UUID claimId) {
        return status == Status.HELD && this.claimId.equals(claimId);
    }

    /** Returns whether this claim was the last one to hold the key, and was released. */
    public boolean wasReleasedBy(UUID claimId) {
        return status == Status.RELEASED && this.claimId.equals(claimId);
    }

    /** Returns whether no claim has begun or ended since the key's row was read before. */
    boolean isAsIn(@Nullable ClaimRow before) {
        return before != null && claimId.equals(before.claimId) && status == before.status;
    }

    /** Returns whether a new request may claim the key: it was released, or its owner's lease has expired. */
    public boolean isFree() {
        return status == Status.RELEASED || (status == Status.HELD && remainingMicros <= 0);
    }

    /** Returns whether an attempt at the key may have had effects that are not recorded. Only for a key that is free. */
    boolean isNextInDoubt() {
        return inDoubt || status == Status.HELD;
    }

    /** Returns whether this free key is in doubt, the request parks such keys, and no operator has decided yet. */
    public boolean mustBeParked(ClaimRequest request) {
        return isNextInDoubt() && !cleared && request.inDoubt() == InDoubt.PARK;
    }

    /** Answers a claim of a key that is not free. */
    public ClaimOutcome refusal(ClaimRequest request) {
        return switch (status) {
            case COMPLETED -> ClaimOutcome.ofCompleted(request, fingerprint, result);
            case PARKED -> new ClaimOutcome.Parked();
            case HELD -> ClaimOutcome.ofHeld(request, fingerprint, Duration.of(remainingMicros, ChronoUnit.MICROS));
            case RELEASED -> throw new IllegalStateException("A released key is free: " + key);
        };
    }

    /** Answers the claim that holds the row already. */
    Acquired current() {
        return new Acquired(attempt, fencingToken, inDoubt);
    }

    /**
     * Returns the takeover's answer: a dead owner's effects are in doubt, an owner that released the key reported none.
     */
    public Acquired next() {
        return new Acquired(attempt + 1, nextToken, isNextInDoubt());
    }

    /** Returns the row's name only: results must not be logged. */
    @Override
    public String toString() {
        return key + " " + status + " attempt " + attempt;
    }
}
