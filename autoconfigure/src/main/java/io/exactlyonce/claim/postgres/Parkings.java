package io.exactlyonce.claim.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** Sets keys in doubt that nobody holds aside for a person. */
public final class Parkings {

    /**
     * Changes nothing unless the row is still in doubt as it was read: no takeover and no renewal since, and nobody
     * has locked it, for example to fence a transaction. {@code parked_at} is
     * set with the status PARKED and only then: the index of parked claims asks for it.
     */
    private static final String PARK_IN_DOUBT = """
            UPDATE exactly_once_claim
            SET status = 'PARKED', parked_at = clock_timestamp(), ambiguous = true,
                error = coalesce(error, 'its holder vanished')
            WHERE scope = ? AND key = ? AND claim_id = (
            """ + FreeRow.LOCK + ")";

    private final JdbcTemplate jdbc;

    public Parkings(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns those whose key was parked. */
    public List<RequestedRow> parkInDoubt(List<RequestedRow> inDoubt) {
        return FreeRowUpdates.run(jdbc, PARK_IN_DOUBT, inDoubt, RequestedRow::key, Parkings::bind);
    }

    private static void bind(PreparedStatement statement, RequestedRow inDoubt) throws SQLException {
        statement.setString(1, inDoubt.key().scope());
        statement.setString(2, inDoubt.key().key());
        FreeRow.bind(statement, 3, inDoubt.row());
    }
}
