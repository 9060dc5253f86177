package io.exactlyonce.claim.postgres.schema;

/** The claims' table is of an earlier version than this library needs. */
public final class ClaimTableOutdatedException extends ClaimSchemaException {

    private final int found;

    ClaimTableOutdatedException(String table, String database, int found) {
        super(
                "Table %s in %s has version %d, and version %d is needed"
                        .formatted(table, database, found, ClaimSchema.needed()),
                migrate(found),
                null);
        this.found = found;
    }

    /** Returns the table's version. */
    public int found() {
        return found;
    }

    /** Returns the version that is needed. */
    public int needed() {
        return ClaimSchema.needed();
    }
}
