package io.exactlyonce.claim.postgres;

import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** Creates the claim table if it is missing, and finds out whether claims can be kept in it. */
public final class ClaimSchema {

    /** On the class path, for Flyway and Liquibase. */
    public static final String SCRIPT = "io/exactlyonce/claim/postgres/schema/exactly_once_claim.sql";

    private static final String FIND = "SELECT to_regclass('{table}') IS NOT NULL";

    /**
     * Instances that start at the same moment on an empty database take turns: CREATE TABLE IF NOT EXISTS alone fails
     * with a unique violation in the catalog when another transaction creates the same table. The number is arbitrary, and the same for
     * all names, because two names may mean one table.
     */
    private static final String TAKE_TURNS = "SELECT pg_advisory_xact_lock(7317441206845101);";

    /** Writes no row. PostgreSQL still checks the columns, the privileges, and that a unique key fits the conflict. */
    private static final String WRITE_NOTHING = """
            SELECT scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt, lease_until, result, error,
                   first_claimed_at, claimed_at, completed_at, fingerprint, parked_at, cleared, expires_at
            FROM {table} WHERE false;
            INSERT INTO {table} (scope, key) SELECT scope, key FROM {table} WHERE false
            ON CONFLICT (scope, key) DO NOTHING;
            UPDATE {table} SET status = status WHERE false
            """;

    private static final String HIDES_ROWS = "SELECT row_security_active('{table}')";

    private static final String MISSING = "42P01";

    private static final String SCHEMA_MISSING = "3F000";

    /** A column, or the primary key, is not there. */
    private static final Set<String> OF_ANOTHER_VERSION = Set.of("42703", "42P10");

    private static final Logger log = LoggerFactory.getLogger(ClaimSchema.class);

    private final ClaimTable table;
    private final JdbcTemplate jdbc;

    /** Looks at the table through its own connections. */
    public ClaimSchema(ClaimTable table) {
        this(table, table.dataSource());
    }

    /** @param dataSource whose connections the table is looked at through */
    public ClaimSchema(ClaimTable table, DataSource dataSource) {
        this.table = table;
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /**
     * Creates the table if it is missing. An existing table stays unchanged, without a lock or the right to create it.
     *
     * @throws ClaimDatabaseException if its schema is missing
     */
    public void create() {
        if (Boolean.TRUE.equals(jdbc.queryForObject(table.sql(FIND), Boolean.class))) {
            return;
        }
        try {
            // All in one round trip, which is one transaction.
            jdbc.execute(TAKE_TURNS + table.script(script()));
        } catch (DataAccessException failure) {
            throw ClaimPool.sqlState(failure).equals(SCHEMA_MISSING) ? schemaMissing(failure) : failure;
        }
        log.info("Created table {}", table.name());
    }

    private ClaimDatabaseException schemaMissing(DataAccessException failure) {
        return new ClaimDatabaseException(
                "The schema of table %s is missing from %s".formatted(table.name(), SameDatabase.describe(jdbc)),
                "create it with CREATE SCHEMA, or correct exactly-once.claim.table-name",
                failure);
    }

    private static String script() {
        try {
            return new ClassPathResource(SCRIPT, ClaimSchema.class.getClassLoader())
                    .getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException lost) {
            throw new UncheckedIOException(lost);
        }
    }

    /**
     * Checks that the table can keep all keys, and that this user may write it and sees all of it. Changes nothing.
     *
     * @throws ClaimDatabaseException if it is missing, of another version, cannot keep all keys, or is behind row-level
     *     security
     * @throws DataAccessException if it cannot be used as it is
     */
    public void verify() {
        TableShape.verify(table, jdbc);
        requireWritable();
    }

    /**
     * Checks that the table exists with its columns and primary key, and that this user may write it and sees all of it.
     * Changes nothing.
     *
     * @throws ClaimDatabaseException if it is missing, of another version or behind row-level security
     * @throws DataAccessException if it cannot be used as it is
     */
    public void requireUsable() {
        requireWritable();
        if (Boolean.TRUE.equals(jdbc.queryForObject(table.sql(HIDES_ROWS), Boolean.class))) {
            throw new ClaimDatabaseException(
                    "Table %s is behind row-level security in %s, which could hide completed keys"
                            .formatted(table.name(), SameDatabase.describe(jdbc)),
                    "ALTER TABLE %s DISABLE ROW LEVEL SECURITY, or give this user BYPASSRLS".formatted(table.name()),
                    null);
        }
    }

    private void requireWritable() {
        try {
            jdbc.execute(table.sql(WRITE_NOTHING));
        } catch (DataAccessException failure) {
            String state = ClaimPool.sqlState(failure);
            boolean isMissing = state.equals(MISSING);
            if (!isMissing && !OF_ANOTHER_VERSION.contains(state)) {
                throw failure;
            }
            String remedy = isMissing
                    ? "set exactly-once.claim.initialize-schema=always, correct exactly-once.claim.table-name, or apply with Flyway"
                            + " or Liquibase: "
                    : "an existing table is never changed: drop it if its claims are not needed, or alter it to match: ";
            String problem = isMissing ? "missing from" : "of another version in";
            throw new ClaimDatabaseException(
                    "Table %s is %s %s".formatted(table.name(), problem, SameDatabase.describe(jdbc)),
                    remedy + "classpath:" + SCRIPT,
                    failure);
        }
    }
}
