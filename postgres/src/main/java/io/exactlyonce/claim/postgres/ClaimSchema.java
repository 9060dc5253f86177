package io.exactlyonce.claim.postgres;

import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.PgCatalog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;

/** Creates the claim table if it is missing, and checks that the table can be used. */
public final class ClaimSchema {

    /**
     * The SQL script that creates the claim table, on the class path. Flyway and Liquibase can run the script, too.
     */
    public static final String SCRIPT = "io/exactlyonce/claim/postgres/schema/exactly_once_claim.sql";

    /**
     * Looks for the claim table in the schemas of the search path. Selects three columns:
     * <ul>
     *   <li>the schemas that already have a table of this name
     *   <li>the schema in which {@code CREATE TABLE} would create the table
     *   <li>other roles that could create a second table of this name in one of these schemas. Superusers and owners
     *       are left out, because they control the claim table anyway.
     * </ul>
     */
    private static final String FIND = PgCatalog.sql("""
            SELECT ARRAY(%s) AS schemas, pg_catalog.current_schema() AS target,
                   ARRAY(SELECT pg_catalog.format('%%s in schema %%I',
                                    CASE WHEN grants.grantee {=} 0::pg_catalog.oid THEN 'every role'
                                         ELSE pg_catalog.format('role %%I', pg_catalog.pg_get_userbyid(grants.grantee)) END,
                                    n.nspname)
                         FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS path (name, position)
                         JOIN pg_catalog.pg_namespace AS n ON n.nspname {=} path.name
                         CROSS JOIN LATERAL pg_catalog.aclexplode(coalesce(
                             n.nspacl, pg_catalog.acldefault('n', n.nspowner))) AS grants
                         JOIN pg_catalog.pg_database AS d ON d.datname {=} pg_catalog.current_database()
                         WHERE grants.privilege_type {=} 'CREATE'
                           AND (grants.grantee {=} 0::pg_catalog.oid
                                OR NOT EXISTS (
                                    SELECT 1 FROM pg_catalog.pg_roles AS r
                                    WHERE r.oid {=} grants.grantee
                                      AND (r.rolsuper OR r.rolname {=} current_user OR r.rolname {=} 'pg_database_owner'
                                           OR pg_catalog.pg_has_role(r.oid, d.datdba, 'MEMBER')
                                           OR EXISTS (SELECT 1 FROM pg_catalog.pg_class AS c
                                                      WHERE c.relnamespace {=} n.oid AND c.relname {=} ?
                                                        AND pg_catalog.pg_has_role(r.oid, c.relowner, 'MEMBER')))))
                         ORDER BY path.position, grants.grantee) AS creators""".formatted(ClaimTable.SCHEMAS));

    /**
     * The number of the advisory lock for creating the table. Instances that start at the same moment on an empty
     * database create the table one after the other. Without the lock, two concurrent
     * {@code CREATE TABLE IF NOT EXISTS} can fail with a unique violation.
     *
     * <p>The number is arbitrary. It is the same for all table names, because two names can mean one table (for example
     * with and without the schema). Any role that may connect can hold the lock, so instances wait for it only a few
     * seconds.
     */
    private static final long TURN = 7317441206845101L;

    private static final String TAKE_TURNS =
            "SELECT pg_catalog.set_config('lock_timeout', '3s', true); SELECT pg_catalog.pg_advisory_xact_lock(%s);"
                    .formatted(TURN);

    /** Finds the session that holds the lock, so that an error message can name it. Needs no privilege. */
    private static final String HOLDER = PgCatalog.sql("""
            SELECT l.pid, pg_catalog.pg_get_userbyid(a.usesysid) AS role, a.application_name AS application
            FROM pg_catalog.pg_locks AS l
            JOIN pg_catalog.pg_stat_activity AS a ON a.pid {=} l.pid
            JOIN pg_catalog.pg_database AS d ON d.oid {=} l.database AND d.datname {=} pg_catalog.current_database()
            WHERE l.locktype {=} 'advisory' AND l.granted
              AND ((l.classid::bigint {<<} 32) {|} l.objid::bigint) {=} %s""".formatted(TURN));

    private static final String LOCKED = "55P03";

    /**
     * Statements that change no row. PostgreSQL nevertheless rejects them if a column, the primary key or a privilege
     * is missing.
     */
    private static final String WRITE_NOTHING = """
            SELECT scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt, lease_until, result, error,
                   first_claimed_at, claimed_at, completed_at, fingerprint, parked_at, cleared, expires_at, failures
            FROM {table} WHERE false;
            INSERT INTO {table} (scope, key) SELECT scope, key FROM {table} WHERE false
            ON CONFLICT (scope, key) DO NOTHING;
            UPDATE {table} SET status = status WHERE false
            """;

    private static final String IS_THERE = "SELECT pg_catalog.to_regclass('{table}') IS NOT NULL";

    private static final String HIDES_ROWS = "SELECT pg_catalog.row_security_active('{table}'::pg_catalog.regclass)";

    private static final String MISSING = "42P01";

    private static final String SCHEMA_MISSING = "3F000";

    /** SQLSTATEs of a missing column and of a missing primary key. */
    private static final Set<String> OF_ANOTHER_VERSION = Set.of("42703", "42P10");

    private static final Logger log = LoggerFactory.getLogger(ClaimSchema.class);

    private final ClaimTable table;
    private final JdbcTemplate jdbc;

    public ClaimSchema(ClaimTable table) {
        this(table, table.dataSource());
    }

    /** Uses this DataSource instead of the table's own, for example the DataSource of an application transaction. */
    public ClaimSchema(ClaimTable table, DataSource dataSource) {
        this.table = table;
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /**
     * Creates the table if it is missing. If the table exists, this method takes no lock, and needs no privilege to
     * create tables.
     *
     * @throws ClaimDatabaseException if the table's schema is missing; if several schemas of the search path have the
     *     table; or if another session holds the lock for creating the table for more than 3 s
     * @throws DataAccessException if the database rejects the script for another reason
     */
    public void create() {
        Found found = find();
        if (found.isThere()) {
            return;
        }
        try {
            // The lock and the script run in one transaction, and are sent in one round trip.
            jdbc.execute(TAKE_TURNS + table.script(script(), found.target()));
        } catch (DataAccessException failure) {
            throw switch (ClaimPool.sqlState(failure)) {
                case SCHEMA_MISSING -> schemaMissing(failure);
                case LOCKED -> locked(failure);
                default -> failure;
            };
        }
        if (found.target() != null) {
            table.resolve(found.target());
        }
        log.info("Created table {}", table.name());
    }

    /**
     * The result of a search for the table.
     *
     * @param schemas the schemas that have the table
     * @param target the schema in which the table would be created; {@code null} if no schema of the search path exists
     * @param creators other roles that may create objects in a schema of the search path
     */
    private record Found(List<String> schemas, @Nullable String target, List<String> creators) {

        boolean isThere() {
            return !schemas.isEmpty();
        }
    }

    /** Looks for the table. If the configured name has no schema, searches the schemas of the search path. */
    private Found find() {
        if (table.isResolved()) {
            boolean isThere = Boolean.TRUE.equals(jdbc.queryForObject(table.sql(IS_THERE), Boolean.class));
            return new Found(isThere ? List.of(table.schema()) : List.of(), table.schema(), List.of());
        }
        Found found = Objects.requireNonNull(jdbc.queryForObject(
                FIND,
                (row, number) -> new Found(texts(row, "schemas"), row.getString("target"), texts(row, "creators")),
                table.relation(),
                table.relation()));
        if (found.schemas.size() > 1) {
            throw new ClaimDatabaseException(
                    "Several schemas of the search path have a table %s (%s), in %s"
                            .formatted(table.name(), String.join(", ", found.schemas), SameDatabase.describe(jdbc)),
                    "set exactly-once.claim.table-name to the claim table with its schema, such as %s.%s, and find out who created the others"
                            .formatted(found.schemas.get(0), table.relation()),
                    null);
        }
        if (!found.creators.isEmpty()) {
            log.warn(
                    "Other roles may create objects in the search path of claims: {}. Statements of claims do not use such"
                            + " objects, but statements of the application may, and a second table {} would fail the next"
                            + " startup. REVOKE CREATE ON SCHEMA ... FROM these roles, or set exactly-once.claim.table-name to a"
                            + " name with its schema",
                    String.join(", ", found.creators),
                    table.name());
        }
        found.schemas.forEach(table::resolve);
        return found;
    }

    private static List<String> texts(ResultSet row, String column) throws SQLException {
        return List.of((String[]) row.getArray(column).getArray());
    }

    /**
     * Throws an exception that names the session that holds the lock, so that an operator can end the session. If the
     * lock is free by now, returns the original failure.
     */
    private DataAccessException locked(DataAccessException failure) {
        List<Holder> holders = jdbc.query(HOLDER, DataClassRowMapper.newInstance(Holder.class));
        if (holders.isEmpty()) {
            return failure;
        }
        Holder holder = holders.get(0);
        throw new ClaimDatabaseException(
                "Table %s cannot be created: session %d of role %s (application_name '%s') holds the advisory lock %d, by which instances take turns, in %s"
                        .formatted(
                                table.name(),
                                holder.pid,
                                holder.role,
                                holder.application,
                                TURN,
                                SameDatabase.describe(jdbc)),
                "end that session with SELECT pg_terminate_backend(%s), and forbid connections of roles that you do not trust: REVOKE CONNECT ON DATABASE ... FROM PUBLIC"
                        .formatted(holder.pid),
                failure);
    }

    private record Holder(int pid, String role, String application) {}

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
     * Checks that the table can keep all keys, and that this user may read and write all rows. Changes nothing.
     *
     * @throws ClaimDatabaseException if the table is missing, belongs to another version, cannot keep all keys, or is
     *     behind row-level security; or if several schemas of the search path have the table
     * @throws DataAccessException if the database rejects the check for another reason
     */
    public void verify() {
        if (!table.isResolved() && !find().isThere()) {
            throw missing(null);
        }
        TableShape.verify(table, jdbc);
        requireWritable();
    }

    /**
     * A shorter check than {@link #verify}: the table has its columns and primary key, and this user may read and write
     * all rows. Changes nothing.
     *
     * @throws ClaimDatabaseException if the table is missing, belongs to another version or is behind row-level
     *     security
     * @throws DataAccessException if the database rejects the check for another reason
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
            if (state.equals(MISSING)) {
                throw missing(failure);
            }
            if (!OF_ANOTHER_VERSION.contains(state)) {
                throw failure;
            }
            throw unusable(
                    "of another version in",
                    "an existing table is never changed: drop it if its claims are not needed, or alter it to match: ",
                    failure);
        }
    }

    private ClaimDatabaseException missing(@Nullable DataAccessException failure) {
        return unusable(
                "missing from",
                "set exactly-once.claim.initialize-schema=always, correct exactly-once.claim.table-name, or apply with Flyway"
                        + " or Liquibase: ",
                failure);
    }

    private ClaimDatabaseException unusable(String problem, String remedy, @Nullable DataAccessException failure) {
        return new ClaimDatabaseException(
                "Table %s is %s %s".formatted(table.name(), problem, SameDatabase.describe(jdbc)),
                remedy + "classpath:" + SCRIPT,
                failure);
    }
}
