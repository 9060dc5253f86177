package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.ParameterizedPreparedStatementSetter;

/**
 * Writes rows that were free when they were read: takes keys over whose claim was released or whose holder's lease is over,
 * and parks keys in doubt. Each row is an update of its own, all in one round trip. Rows are locked in key order, so that two
 * batches wait for each other but do not deadlock.
 */
public final class FreeRowUpdates {

    /**
     * Finds nothing if the row has changed since: another claim, another status, or a renewal. Attempt and fencing token
     * change with the claim's id only, so the ones that were read still hold then.
     *
     * <p>A row that another transaction has locked is left alone rather than waited for, since a batch must not hang on it:
     * a transaction that the holder has fenced, or a takeover, renewal or completion that is just being written. Asked for
     * in a subquery that is run once, and not in a join, whose plan could change.
     */
    public static final String LOCK = """
                SELECT claim_id FROM exactly_once_claim
                WHERE scope = ? AND key = ? AND claim_id = ? AND status = ?
                  AND (status = 'RELEASED' OR lease_until <= clock_timestamp())
                FOR UPDATE SKIP LOCKED
            """;

    private static final String TAKE_OVER = """
            UPDATE exactly_once_claim
            SET status = 'HELD', claim_id = ?, owner = ?, attempt = ?, fencing_token = ?, ambiguous = ?,
                fingerprint = decode(?, 'hex'), claimed_at = clock_timestamp(), cleared = false,
                lease_until = clock_timestamp() + ? * interval '1 microsecond',
                expires_at = clock_timestamp() + ? * interval '1 microsecond'
            WHERE scope = ? AND key = ? AND claim_id = (
            """ + LOCK + ")";

    /** {@code parked_at} is set with the status PARKED and only then: the index of parked claims asks for it. */
    public static final String PARK_IN_DOUBT = """
            UPDATE exactly_once_claim
            SET status = 'PARKED', parked_at = clock_timestamp(), ambiguous = true,
                error = coalesce(error, 'its holder vanished')
            WHERE scope = ? AND key = ? AND claim_id = (
            """ + LOCK + ")";

    private final JdbcTemplate jdbc;
    private final Duration retention;

    public FreeRowUpdates(JdbcTemplate jdbc, Duration retention) {
        this.jdbc = jdbc;
        this.retention = retention;
    }

    /** Returns those that won their key. */
    public List<RequestedRow> takeOver(List<RequestedRow> free) {
        return run(TAKE_OVER, free, this::bindTakeover);
    }

    /** Returns those whose key was parked. */
    public List<RequestedRow> parkInDoubt(List<RequestedRow> inDoubt) {
        return run(PARK_IN_DOUBT, inDoubt, FreeRowUpdates::bindParking);
    }

    private List<RequestedRow> run(
            String sql, List<RequestedRow> rows, ParameterizedPreparedStatementSetter<RequestedRow> parameters) {
        if (rows.isEmpty()) {
            return List.of();
        }
        List<RequestedRow> ordered =
                rows.stream().sorted(Comparator.comparing(RequestedRow::key)).toList();
        int[] counts = jdbc.batchUpdate(sql, ordered, ordered.size(), parameters)[0];
        List<RequestedRow> updated = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                updated.add(ordered.get(i));
            }
        }
        return updated;
    }

    private void bindTakeover(PreparedStatement statement, RequestedRow free) throws SQLException {
        ClaimRequest request = free.request();
        Acquired next = free.row().next();
        statement.setObject(1, request.claimId());
        statement.setString(2, request.owner());
        statement.setInt(3, next.attempt());
        statement.setLong(4, next.fencingToken());
        statement.setBoolean(5, next.ambiguous());
        statement.setString(6, request.fingerprint());
        statement.setLong(7, ArrayParameters.micros(request.lease()));
        statement.setLong(8, ArrayParameters.micros(retention));
        statement.setString(9, request.key().scope());
        statement.setString(10, request.key().key());
        bindLock(statement, 11, free.row());
    }

    private static void bindParking(PreparedStatement statement, RequestedRow inDoubt) throws SQLException {
        statement.setString(1, inDoubt.key().scope());
        statement.setString(2, inDoubt.key().key());
        bindLock(statement, 3, inDoubt.row());
    }

    public static void bindLock(PreparedStatement statement, int firstIndex, ClaimRow row) throws SQLException {
        statement.setString(firstIndex, row.key().scope());
        statement.setString(firstIndex + 1, row.key().key());
        statement.setObject(firstIndex + 2, row.claimId());
        statement.setString(firstIndex + 3, row.status().name());
    }
}
