package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Claims keys whose claim was released, or whose holder's lease is over. */
final class Takeovers {

    /**
     * Changes nothing unless the row is still as it was read: same claim, same status, and no renewal since. Attempt and
     * fencing token change with the claim's id only, so the ones that were read still hold then.
     */
    private static final String UPDATE = """
            UPDATE exactly_once_claim
            SET status = 'HELD', claim_id = ?, owner = ?, attempt = ?, fencing_token = ?, ambiguous = ?,
                claimed_at = clock_timestamp(), lease_until = clock_timestamp() + ? * interval '1 microsecond'
            WHERE scope = ? AND key = ? AND claim_id = ? AND status = ?
              AND (status = 'RELEASED' OR lease_until <= clock_timestamp())
            """;

    private final JdbcTemplate jdbc;

    Takeovers(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns those that won their key. */
    List<RequestedRow> takeOver(List<RequestedRow> free) {
        return RowUpdates.run(jdbc, UPDATE, free, RequestedRow::key, Takeovers::bind);
    }

    private static void bind(PreparedStatement statement, RequestedRow free) throws SQLException {
        ClaimRequest request = free.entry().request();
        ClaimRow row = free.row();
        Acquired next = row.next();
        statement.setObject(1, request.claimId());
        statement.setString(2, request.owner());
        statement.setInt(3, next.attempt());
        statement.setLong(4, next.fencingToken());
        statement.setBoolean(5, next.ambiguous());
        statement.setLong(6, LeaseMicros.of(request.lease()));
        statement.setString(7, request.key().scope());
        statement.setString(8, request.key().key());
        statement.setObject(9, row.claimId());
        statement.setString(10, row.status().name());
    }
}
