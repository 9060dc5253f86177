package io.exactlyonce.claim.postgres;

import java.util.List;
import javax.sql.DataSource;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Creates the claims' table if it is missing, and brings one of an earlier version forward. A table that is up to date
 * stays as it is.
 */
public final class ClaimSchemaInitializer extends DataSourceScriptDatabaseInitializer {

    /** Where the scripts are, for Flyway and Liquibase: one for each version of the table, to be run in this order. */
    public static final List<String> SCRIPTS = List.of(
            "classpath:io/exactlyonce/claim/postgres/schema/v1/exactly_once_claim.sql",
            "classpath:io/exactlyonce/claim/postgres/schema/v2/exactly_once_claim.sql");

    /**
     * Instances that start at the same moment on an empty database take turns: CREATE TABLE IF NOT EXISTS alone fails
     * with a unique violation in the catalog when another transaction creates the same table. The number is arbitrary.
     */
    private static final String TAKE_TURNS = "SELECT pg_advisory_xact_lock(7317441206845101)";

    private final DataSource dataSource;

    /**
     * @param dataSource where claims live
     * @param mode {@code ALWAYS} to create the table, {@code NEVER} to leave the database alone
     */
    public ClaimSchemaInitializer(DataSource dataSource, DatabaseInitializationMode mode) {
        super(dataSource, settings(mode));
        this.dataSource = dataSource;
    }

    @Override
    protected void runScripts(Scripts scripts) {
        var transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        transaction.executeWithoutResult(status -> {
            new JdbcTemplate(dataSource).execute(TAKE_TURNS);
            // Spring's script runner finds the transaction's connection by the DataSource, and joins.
            super.runScripts(scripts);
        });
    }

    private static DatabaseInitializationSettings settings(DatabaseInitializationMode mode) {
        var settings = new DatabaseInitializationSettings();
        settings.setSchemaLocations(SCRIPTS);
        settings.setMode(mode);
        return settings;
    }
}
