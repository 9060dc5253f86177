package io.exactlyonce.primary;

import java.util.regex.Pattern;

/**
 * Makes the operators of a statement PostgreSQL's own, whatever the search path of its session is. A name without a schema
 * means the object whose types fit best, so an operator that a neighbour creates in a schema of the path could replace
 * {@code varchar = text}, and would run as the user of the claims.
 *
 * <p>A statement writes each operator in braces, such as {@code key {=} ?}, and the schema of each function and type, such as
 * {@code pg_catalog.now()}. SQL's own syntax needs no schema: {@code coalesce}, {@code extract}, {@code interval},
 * {@code bigint}. The exceptions are {@code IN}, {@code BETWEEN}, {@code LIKE}, {@code NULLIF}, {@code CASE x WHEN},
 * {@code IS DISTINCT FROM} and {@code USING}, which look for an operator by its name: statements do without them.
 *
 * <p>All operators with a schema have the same precedence, between comparisons and additions, so brackets decide.
 */
public final class PgCatalog {

    private static final Pattern OPERATOR = Pattern.compile("\\{([^\\w{}\\s]+)}");

    private PgCatalog() {}

    /** Returns the SQL of a statement with operators in braces. */
    public static String sql(String statement) {
        return OPERATOR.matcher(statement).replaceAll("OPERATOR(pg_catalog.$1)");
    }
}
