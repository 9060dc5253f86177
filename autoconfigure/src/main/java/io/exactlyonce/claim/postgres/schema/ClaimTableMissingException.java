package io.exactlyonce.claim.postgres.schema;

/** The database has no table for claims. */
public final class ClaimTableMissingException extends ClaimSchemaException {

    private final String table;
    private final String database;

    ClaimTableMissingException(String table, String database) {
        super("Table %s is missing from %s".formatted(table, database), migrate(0), null);
        this.table = table;
        this.database = database;
    }

    /** Returns the table's name. */
    public String table() {
        return table;
    }

    /** Returns the database, its server and the search path, for people. */
    public String database() {
        return database;
    }
}
