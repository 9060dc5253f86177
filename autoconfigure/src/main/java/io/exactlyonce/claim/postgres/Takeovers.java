package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.jdbc.LeaseMicros;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Claims keys whose claim was released, or whose holder's lease is over. */
public final class Takeovers {

    /**
     * Changes nothing unless the row is still as it was read: same claim, same status, and no renewal since. Attempt and
     * fencing token change with the claim's id only, so the ones that were read still hold then.
     *
     * <p>A row that anybody has locked is left alone rather than waited for, since a batch must not hang on it: a
     * transaction that the holder has fenced, or a takeover, renewal or completion that is just being written. Asked for in
     * a subquery that is run once, and not in a join, whose plan could change.
     */
    private static final String UPDATE = """
            UPDATE exactly_once_claim
            SET status = 'HELD', claim_id = ?, owner = ?, attempt = ?, fencing_token = ?, ambiguous = ?,
                fingerprint = decode(?, 'hex'), claimed_at = clock_timestamp(), cleared = false,
                lease_until = clock_timestamp() + ? * interval '1 microsecond',
                expires_at = clock_timestamp() + ? * interval '1 microsecond'
            WHERE scope = ? AND key = ? AND claim_id = (
            """ + FreeRow.LOCK + ")";

    private final JdbcTemplate jdbc;
    private final Duration retention;

    public Takeovers(JdbcTemplate jdbc, Duration retention) {
        this.jdbc = jdbc;
        this.retention = retention;
    }

    /** Returns those that won their key. */
    public List<RequestedRow> takeOver(List<RequestedRow> free) {
        return FreeRowUpdates.run(jdbc, UPDATE, free, RequestedRow::key, this::bind);
    }

    private void bind(PreparedStatement statement, RequestedRow free) throws SQLException {
        ClaimRequest request = free.entry().request();
        ClaimRow row = free.row();
        Acquired next = row.next();
        statement.setObject(1, request.claimId());
        statement.setString(2, request.owner());
        statement.setInt(3, next.attempt());
        statement.setLong(4, next.fencingToken());
        statement.setBoolean(5, next.ambiguous());
        statement.setString(6, request.fingerprint());
        statement.setLong(7, LeaseMicros.of(request.lease()));
        statement.setLong(8, LeaseMicros.of(retention));
        statement.setString(9, request.key().scope());
        statement.setString(10, request.key().key());
        FreeRow.bind(statement, 11, row);
    }
}
