package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.Release;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.JdbcTemplate;

/** Gives claims up. The error stays in the row until the next one, also when a later attempt succeeds. */
final class Releases {

    private static final String UPDATE = """
            UPDATE exactly_once_claim
            SET status = 'RELEASED', error = ?, ambiguous = ambiguous OR ?
            WHERE scope = ? AND key = ? AND claim_id = ? AND status = 'HELD'
            """;

    private final JdbcTemplate jdbc;

    Releases(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the claims that were given up. */
    Set<ClaimId> release(List<Release> releases) {
        return RowUpdates.run(jdbc, UPDATE, releases, release -> release.claim().key(), Releases::bind).stream()
                .map(Release::claim)
                .collect(Collectors.toSet());
    }

    private static void bind(PreparedStatement statement, Release release) throws SQLException {
        ClaimId claim = release.claim();
        statement.setString(1, ErrorText.storable(release.error()));
        statement.setBoolean(2, release.ambiguous());
        statement.setString(3, claim.key().scope());
        statement.setString(4, claim.key().key());
        statement.setObject(5, claim.value());
    }
}
