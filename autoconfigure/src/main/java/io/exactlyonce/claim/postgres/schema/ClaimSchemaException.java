package io.exactlyonce.claim.postgres.schema;

import io.exactlyonce.ExactlyOnceSetupException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Claims cannot be kept, since their table is not as it has to be. */
public final class ClaimSchemaException extends ExactlyOnceSetupException {

    /** What is wrong with the table. */
    public enum Reason {
        /** The database has no table for claims. */
        MISSING,
        /** The table is of an earlier version than this library needs. */
        OUTDATED,
        /** The table could not be brought forward, since other transactions would not let go of it. Nothing has changed. */
        LOCKED
    }

    private final Reason reason;
    private final String database;
    private final int found;

    private ClaimSchemaException(
            Reason reason, String database, int found, String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
        this.reason = reason;
        this.database = database;
        this.found = found;
    }

    static ClaimSchemaException missing(String database) {
        String problem = "Table %s is missing from %s".formatted(ClaimSchema.TABLE, database);
        return new ClaimSchemaException(Reason.MISSING, database, 0, problem, migrate(0), null);
    }

    static ClaimSchemaException outdated(String database, int found) {
        String problem = "Table %s in %s has version %d, and version %d is needed"
                .formatted(ClaimSchema.TABLE, database, found, ClaimSchema.needed());
        return new ClaimSchemaException(Reason.OUTDATED, database, found, problem, migrate(found), null);
    }

    static ClaimSchemaException locked(String database, Duration patience, int found, Throwable cause) {
        String problem =
                "Version %d of table %s in %s could not be brought to version %d within %d s: other sessions hold it"
                        .formatted(found, ClaimSchema.TABLE, database, ClaimSchema.needed(), patience.toSeconds());
        String remedy = "start again when no long transaction uses the table (pg_stat_activity shows them,"
                + " pg_blocking_pids() who blocks whom), or apply by hand: " + scripts(found);
        return new ClaimSchemaException(Reason.LOCKED, database, found, problem, remedy, cause);
    }

    private static String migrate(int found) {
        return "set exactly-once.claim.initialize-schema=always, or apply with Flyway or Liquibase: " + scripts(found);
    }

    private static String scripts(int found) {
        return String.join(", ", ClaimSchema.scriptsAfter(found));
    }

    /** Returns what is wrong with the table. */
    public Reason reason() {
        return reason;
    }

    /** Returns the table's name. */
    public String table() {
        return ClaimSchema.TABLE;
    }

    /** Returns the database, its server and the search path, for people. */
    public String database() {
        return database;
    }

    /** Returns the table's version; 0 if there is no table. */
    public int found() {
        return found;
    }

    /** Returns the version that is needed. */
    public int needed() {
        return ClaimSchema.needed();
    }
}
