package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.Completion;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.JdbcTemplate;

/** Records claims' good ends. */
final class Completions {

    /**
     * Repeatable: the first completion's result and time stay. Asks for the claim and not for its lease, since nobody
     * has taken the key over as long as the claim's id is there.
     */
    private static final String UPDATE = """
            UPDATE exactly_once_claim
            SET status = 'COMPLETED',
                result = CASE WHEN status = 'COMPLETED' THEN result ELSE ? END,
                completed_at = coalesce(completed_at, clock_timestamp())
            WHERE scope = ? AND key = ? AND claim_id = ? AND status IN ('HELD', 'COMPLETED')
            """;

    private final JdbcTemplate jdbc;

    Completions(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the claims that are completed. */
    Set<ClaimId> complete(List<Completion> completions) {
        return RowUpdates.run(
                        jdbc,
                        UPDATE,
                        completions,
                        completion -> completion.claim().key(),
                        Completions::bind)
                .stream()
                .map(Completion::claim)
                .collect(Collectors.toSet());
    }

    private static void bind(PreparedStatement statement, Completion completion) throws SQLException {
        ClaimId claim = completion.claim();
        statement.setString(1, completion.result());
        statement.setString(2, claim.key().scope());
        statement.setString(3, claim.key().key());
        statement.setObject(4, claim.value());
    }
}
