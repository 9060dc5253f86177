package io.exactlyonce.claim.postgres;

import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Finds out at start-up, rather than at the first delivery, whether claims can be kept: the table is there, with its
 * columns and its primary key, and this user may write it. Changes nothing.
 */
public final class ClaimSchemaProbe {

    private static final String TABLE = "exactly_once_claim";
    private static final String UNDEFINED_TABLE = "42P01";

    /** Inserts no row. PostgreSQL still checks the columns, the privileges, and that a unique key fits the conflict. */
    private static final String INSERT_NOTHING = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                            lease_until, result, error, first_claimed_at, claimed_at, completed_at,
                                            fingerprint, parked_at, expires_at)
            SELECT scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                   lease_until, result, error, first_claimed_at, claimed_at, completed_at,
                   fingerprint, parked_at, expires_at
            FROM exactly_once_claim WHERE false
            ON CONFLICT (scope, key) DO NOTHING
            """;

    private static final String UPDATE_NOTHING = "UPDATE exactly_once_claim SET status = status WHERE false";

    private static final String DATABASE = """
            SELECT format('database %s on %s (search_path %s)', current_database(),
                          coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'local socket'),
                          current_setting('search_path'))
            """;

    private final JdbcTemplate jdbc;

    /** @param dataSource where claims live */
    public ClaimSchemaProbe(DataSource dataSource) {
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /**
     * Checks the table.
     *
     * @throws ClaimTableMissingException if it is missing
     * @throws DataAccessException if it is there but cannot be used
     */
    public void verify() {
        try {
            jdbc.update(INSERT_NOTHING);
            jdbc.update(UPDATE_NOTHING);
        } catch (DataAccessException failure) {
            if (failure.getMostSpecificCause() instanceof SQLException sql
                    && UNDEFINED_TABLE.equals(sql.getSQLState())) {
                throw new ClaimTableMissingException(
                        TABLE, String.valueOf(jdbc.queryForObject(DATABASE, String.class)), failure);
            }
            throw failure;
        }
    }
}
