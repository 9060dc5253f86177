package io.exactlyonce.primary;

import java.util.regex.Pattern;

/**
 * Makes statements use PostgreSQL's own operators, whatever the session's search path is.
 *
 * <p>If an operator or a function has no schema, PostgreSQL chooses the one in the search path whose types fit best. So
 * another user could create an operator {@code varchar = text} in a schema of the path. It would replace PostgreSQL's
 * own operator, and would run with the rights of the claims' user.
 *
 * <p>Rules for statements:
 * <ul>
 * <li>Operators are in braces, for example {@code key {=} ?}.
 * <li>Functions and types have a schema, for example {@code pg_catalog.now()}. SQL's own syntax needs none: {@code
 * coalesce}, {@code extract}, {@code interval}, {@code bigint}.
 * <li>{@code IN}, {@code BETWEEN}, {@code LIKE}, {@code NULLIF}, {@code CASE x WHEN}, {@code IS DISTINCT FROM} and
 * {@code USING} are forbidden. PostgreSQL looks for their operators (for example {@code =}) in the search path.
 * <li>Brackets set the order of operators, because operators in braces all have the same precedence.
 * </ul>
 */
public final class PgCatalog {

    private static final Pattern OPERATOR = Pattern.compile("\\{([^\\w{}\\s]+)}");

    private PgCatalog() {}

    /** Replaces operators in braces by PostgreSQL's own operators. */
    public static String sql(String statement) {
        return OPERATOR.matcher(statement).replaceAll("OPERATOR(pg_catalog.$1)");
    }
}
