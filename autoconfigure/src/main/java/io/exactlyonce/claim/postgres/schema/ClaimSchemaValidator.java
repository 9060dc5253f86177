package io.exactlyonce.claim.postgres.schema;

import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Finds out at start-up, rather than at the first delivery, whether claims can be kept: the table is there, with its
 * columns and its primary key, and this user may write it. Changes nothing.
 */
public final class ClaimSchemaValidator {

    /** Inserts no row. PostgreSQL still checks the columns, the privileges, and that a unique key fits the conflict. */
    private static final String INSERT_NOTHING = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                            lease_until, result, error, first_claimed_at, claimed_at, completed_at,
                                            fingerprint, parked_at, cleared, expires_at)
            SELECT scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                   lease_until, result, error, first_claimed_at, claimed_at, completed_at,
                   fingerprint, parked_at, cleared, expires_at
            FROM exactly_once_claim WHERE false
            ON CONFLICT (scope, key) DO NOTHING
            """;

    private static final String UPDATE_NOTHING = "UPDATE exactly_once_claim SET status = status WHERE false";

    private final JdbcTemplate jdbc;

    /** @param dataSource where claims live */
    public ClaimSchemaValidator(DataSource dataSource) {
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /**
     * Checks the table.
     *
     * @throws ClaimSchemaException if it is missing or of an earlier version
     * @throws org.springframework.dao.DataAccessException if it cannot be used as it is
     */
    public void verify() {
        int found = ClaimSchema.found(jdbc);
        if (found == 0) {
            throw ClaimSchemaException.missing(ClaimSchema.database(jdbc));
        }
        if (found < ClaimSchema.needed()) {
            throw ClaimSchemaException.outdated(ClaimSchema.database(jdbc), found);
        }
        jdbc.update(INSERT_NOTHING);
        jdbc.update(UPDATE_NOTHING);
    }
}
