package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.Parking;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.JdbcTemplate;

/** Sets keys aside for a person: claims whose holder asks for it, and keys in doubt that nobody holds. */
final class Parkings {

    /** {@code parked_at} is set until the key is claimed again or completed: the index of parked claims asks for it. */
    private static final String PARK_HELD = """
            UPDATE exactly_once_claim
            SET status = 'PARKED', parked_at = clock_timestamp(), error = ?, ambiguous = ambiguous OR ?
            WHERE scope = ? AND key = ? AND claim_id = ? AND status = 'HELD'
            """;

    /** Changes nothing unless the row is still in doubt as it was read: no takeover and no renewal since. */
    private static final String PARK_IN_DOUBT = """
            UPDATE exactly_once_claim
            SET status = 'PARKED', parked_at = clock_timestamp(), ambiguous = true,
                error = coalesce(error, 'its holder vanished')
            WHERE scope = ? AND key = ? AND claim_id = ? AND status = ?
              AND (status = 'RELEASED' OR lease_until <= clock_timestamp())
            """;

    private final JdbcTemplate jdbc;

    Parkings(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the claims that were parked. */
    Set<ClaimId> park(List<Parking> parkings) {
        return RowUpdates.run(
                        jdbc, PARK_HELD, parkings, parking -> parking.claim().key(), Parkings::bind)
                .stream()
                .map(Parking::claim)
                .collect(Collectors.toSet());
    }

    /** Returns those whose key was parked. */
    List<RequestedRow> parkInDoubt(List<RequestedRow> inDoubt) {
        return RowUpdates.run(jdbc, PARK_IN_DOUBT, inDoubt, RequestedRow::key, Parkings::bind);
    }

    private static void bind(PreparedStatement statement, Parking parking) throws SQLException {
        ClaimId claim = parking.claim();
        statement.setString(1, ErrorText.storable(parking.reason()));
        statement.setBoolean(2, parking.ambiguous());
        statement.setString(3, claim.key().scope());
        statement.setString(4, claim.key().key());
        statement.setObject(5, claim.value());
    }

    private static void bind(PreparedStatement statement, RequestedRow inDoubt) throws SQLException {
        statement.setString(1, inDoubt.key().scope());
        statement.setString(2, inDoubt.key().key());
        statement.setObject(3, inDoubt.row().claimId());
        statement.setString(4, inDoubt.row().status().name());
    }
}
