package io.exactlyonce.primary;

import java.util.regex.Pattern;

/**
 * Makes a statement use PostgreSQL's own operators, whatever the session's search path is.
 *
 * <p>For a name without a schema, PostgreSQL chooses the object of the search path whose types fit best. Another user
 * could therefore create an operator in a schema of the path that replaces {@code varchar = text}. That operator would
 * run with the rights of the claims' user.
 *
 * <p>A statement writes each operator in braces, such as {@code key {=} ?}, and each function and type with its schema,
 * such as {@code pg_catalog.now()}. SQL's own syntax needs no schema: {@code coalesce}, {@code extract}, {@code
 * interval}, {@code bigint}. Statements must not contain {@code IN}, {@code BETWEEN}, {@code LIKE}, {@code NULLIF},
 * {@code CASE x WHEN}, {@code IS DISTINCT FROM} and {@code USING}, because PostgreSQL looks up an operator for each of
 * them by its name.
 *
 * <p>All operators with a schema have the same precedence, below additions and above comparisons, so statements need
 * brackets.
 */
public final class PgCatalog {

    private static final Pattern OPERATOR = Pattern.compile("\\{([^\\w{}\\s]+)}");

    private PgCatalog() {}

    /** Returns the SQL of a statement with operators in braces. */
    public static String sql(String statement) {
        return OPERATOR.matcher(statement).replaceAll("OPERATOR(pg_catalog.$1)");
    }
}
