package io.exactlyonce.postgres;

/** Rules for the name of the claim table. */
public final class TableName {

    public static final String DEFAULT = "exactly_once_claim";

    /** The names that {@link #isValid} accepts, in words. */
    public static final String FORM =
            "a table, or a schema and a table such as shop.claims, out of lower-case letters, digits and '_',"
                    + " at most 50 for the table and 63 for the schema";

    /**
     * Permits only lower-case names, so quotes around a name make no difference to PostgreSQL. A table's name may have
     * 50 characters. PostgreSQL permits 63, and the name of an index or constraint is the table's name with up to 13
     * more characters.
     */
    private static final String PATTERN = "([a-z_][a-z0-9_]{0,62}\\.)?[a-z_][a-z0-9_]{0,49}";

    private TableName() {}

    /** Returns whether a text is a valid name of a claim table, with or without a schema. */
    public static boolean isValid(String name) {
        return name.matches(PATTERN);
    }
}
