package io.exactlyonce.postgres;

/** Rules for the name of the claim table. */
public final class TableName {

    public static final String DEFAULT = "exactly_once_claim";

    /** The names that {@link #isValid} accepts, in words. */
    public static final String FORM =
            "a table, or a schema and a table such as shop.claims, out of lower-case letters, digits and '_',"
                    + " at most 50 for the table and 63 for the schema";

    /**
     * The form of names that mean the same to PostgreSQL with and without quotes. A table's name has at most 50
     * characters, because the names of its indexes and of its check constraint are up to 13 characters longer, and
     * PostgreSQL's limit is 63.
     */
    private static final String PATTERN = "([a-z_][a-z0-9_]{0,62}\\.)?[a-z_][a-z0-9_]{0,49}";

    private TableName() {}

    /** Returns whether a text is a valid name of a claim table, with or without a schema. */
    public static boolean isValid(String name) {
        return name.matches(PATTERN);
    }
}
