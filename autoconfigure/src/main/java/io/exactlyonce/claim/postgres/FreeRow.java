package io.exactlyonce.claim.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/** A row that was free when it was read, as later statements ask for it. */
final class FreeRow {

    /** Finds nothing if the row has changed since, or if anybody has locked it. */
    static final String LOCK = """
                SELECT claim_id FROM exactly_once_claim
                WHERE scope = ? AND key = ? AND claim_id = ? AND status = ?
                  AND (status = 'RELEASED' OR lease_until <= clock_timestamp())
                FOR UPDATE SKIP LOCKED
            """;

    private FreeRow() {}

    /** Binds the parameters of {@link #LOCK}. */
    static void bind(PreparedStatement statement, int firstIndex, ClaimRow row) throws SQLException {
        statement.setString(firstIndex, row.key().scope());
        statement.setString(firstIndex + 1, row.key().key());
        statement.setObject(firstIndex + 2, row.claimId());
        statement.setString(firstIndex + 3, row.status().name());
    }
}
