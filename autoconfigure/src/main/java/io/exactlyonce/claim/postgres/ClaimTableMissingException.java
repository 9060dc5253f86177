package io.exactlyonce.claim.postgres;

/** The database has no table for claims. */
public final class ClaimTableMissingException extends RuntimeException {

    private final String table;
    private final String database;
    private final String remedy;

    ClaimTableMissingException(String table, String database, Throwable cause) {
        this(
                table,
                database,
                "set exactly-once.claim.initialize-schema=always, or apply with Flyway or Liquibase: "
                        + String.join(", ", ClaimSchemaInitializer.SCRIPTS),
                cause);
    }

    private ClaimTableMissingException(String table, String database, String remedy, Throwable cause) {
        super(problem(table, database) + ": " + remedy, cause);
        this.table = table;
        this.database = database;
        this.remedy = remedy;
    }

    /** Returns the table's name. */
    public String table() {
        return table;
    }

    /** Returns the database, its server and the search path, for people. */
    public String database() {
        return database;
    }

    /** Returns what was observed. */
    public String problem() {
        return problem(table, database);
    }

    private static String problem(String table, String database) {
        return "Table %s is missing from %s".formatted(table, database);
    }

    /** Returns what to do about it. */
    public String remedy() {
        return remedy;
    }
}
