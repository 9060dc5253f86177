package io.exactlyonce.postgres;

/** Rules for the name of the claim table. */
public final class TableName {

    public static final String DEFAULT = "exactly_once_claim";

    /** The names that {@link #isValid} accepts, in words. */
    public static final String FORM =
            "a table, or a schema and a table such as shop.claims, out of lower-case letters, digits and '_',"
                    + " at most 50 for the table and 63 for the schema";

    /**
     * Names that PostgreSQL leaves unchanged, whether quoted or not. The names of the indexes and of the check
     * constraint add up to 13 characters to the table's name, and may have 63.
     */
    private static final String PATTERN = "([a-z_][a-z0-9_]{0,62}\\.)?[a-z_][a-z0-9_]{0,49}";

    private TableName() {}

    /** Returns whether a claim table can have a name, with or without its schema. */
    public static boolean isValid(String name) {
        return name.matches(PATTERN);
    }
}
