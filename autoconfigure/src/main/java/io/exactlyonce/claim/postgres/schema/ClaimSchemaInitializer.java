package io.exactlyonce.claim.postgres.schema;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Creates the claims' table if it is missing, and brings one of an earlier version forward, in one transaction. A table
 * that is up to date stays as it is, and no instance waits then.
 *
 * <p>While a table is brought forward, claims of other instances wait; its indexes take a second or so for each million
 * rows.
 */
public final class ClaimSchemaInitializer extends DataSourceScriptDatabaseInitializer {

    /** Where the scripts are, for Flyway and Liquibase: one for each version of the table, to be run in this order. */
    public static final List<String> SCRIPTS = ClaimSchema.scriptsAfter(0);

    /**
     * Longest wait for a lock of the table. While this transaction waits for it, all claims wait behind, so it is
     * short; a transaction that holds a claim's row takes milliseconds.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    /** Longest wait for another instance that is at work, and longest time for one statement of that work. */
    private static final Duration LONGEST_WORK = Duration.ofMinutes(30);

    private static final String WAIT = "SELECT set_config('lock_timeout', ?, true)";

    /**
     * Instances that start at the same moment on an empty database take turns: CREATE TABLE IF NOT EXISTS alone fails
     * with a unique violation in the catalog when another transaction creates the same table. The number is arbitrary.
     */
    private static final String TAKE_TURNS = "SELECT pg_advisory_xact_lock(7317441206845101)";

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final Logger log = LoggerFactory.getLogger(ClaimSchemaInitializer.class);

    private final DataSource dataSource;
    private final JdbcTemplate jdbc;

    /**
     * @param dataSource where claims live
     * @param mode {@code ALWAYS} to create the table, {@code NEVER} to leave the database alone
     */
    public ClaimSchemaInitializer(DataSource dataSource, DatabaseInitializationMode mode) {
        super(dataSource, settings(mode));
        this.dataSource = dataSource;
        this.jdbc = new JdbcTemplate(dataSource);
    }

    @Override
    protected void runScripts(Scripts scripts) {
        int found = ClaimSchema.found(jdbc);
        if (found == ClaimSchema.needed()) {
            return;
        }
        var transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        try {
            transaction.executeWithoutResult(status -> migrate(scripts));
        } catch (DataAccessException failure) {
            if (isLockTimeout(failure)) {
                throw ClaimSchemaException.locked(ClaimSchema.database(jdbc), PATIENCE, found, failure);
            }
            throw failure;
        }
    }

    private void migrate(Scripts scripts) {
        // The pool gives up a connection that is silent for seconds, and resets this when it gets the connection back.
        jdbc.execute((ConnectionCallback<Integer>) ClaimSchemaInitializer::allowLongWork);
        waitAtMost(LONGEST_WORK);
        jdbc.execute(TAKE_TURNS);
        int found = ClaimSchema.found(jdbc);
        waitAtMost(PATIENCE);
        List<Resource> missing = new ArrayList<>();
        scripts.forEach(missing::add);
        // Spring's script runner finds the transaction's connection by the DataSource, and joins.
        super.runScripts(new Scripts(missing.subList(found, missing.size())));
        log.info("Brought table {} from version {} to version {}", ClaimSchema.TABLE, found, ClaimSchema.needed());
    }

    private static int allowLongWork(Connection connection) throws SQLException {
        int millis = Math.toIntExact(LONGEST_WORK.toMillis());
        connection.setNetworkTimeout(Runnable::run, millis);
        return millis;
    }

    private void waitAtMost(Duration timeout) {
        jdbc.queryForObject(WAIT, String.class, timeout.toMillis() + "ms");
    }

    private static boolean isLockTimeout(DataAccessException failure) {
        return NestedExceptionUtils.getMostSpecificCause(failure) instanceof SQLException sql
                && LOCK_NOT_AVAILABLE.equals(sql.getSQLState());
    }

    private static DatabaseInitializationSettings settings(DatabaseInitializationMode mode) {
        var settings = new DatabaseInitializationSettings();
        settings.setSchemaLocations(SCRIPTS);
        settings.setMode(mode);
        return settings;
    }
}
