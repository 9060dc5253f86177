package io.exactlyonce.primary;

import java.util.regex.Pattern;

/**
 * Makes a statement use PostgreSQL's own operators, whatever the session's search path is. PostgreSQL resolves a name
 * without a schema to the object whose types fit best. An operator that another user creates in a schema of the path
 * could therefore replace {@code varchar = text}, and would run with the rights of the claims' user.
 *
 * <p>A statement writes each operator in braces, such as {@code key {=} ?}, and the schema of each function and type,
 * such as {@code pg_catalog.now()}. SQL's own syntax needs no schema: {@code coalesce}, {@code extract},
 * {@code interval}, {@code bigint}. Statements must not use {@code IN}, {@code BETWEEN}, {@code LIKE}, {@code NULLIF},
 * {@code CASE x WHEN}, {@code IS DISTINCT FROM} and {@code USING}, because these look up an operator by its name.
 *
 * <p>All operators with a schema have the same precedence, between comparisons and additions, so statements need
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
