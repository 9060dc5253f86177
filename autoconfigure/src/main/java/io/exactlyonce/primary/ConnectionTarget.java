package io.exactlyonce.primary;

import org.jspecify.annotations.Nullable;

/**
 * The database in which claims are kept, and the way in.
 *
 * @param source who named it
 * @param url its JDBC URL
 * @param username user, or {@code null} if the URL or the driver knows it
 * @param password password, or {@code null} if there is none
 */
public record ConnectionTarget(
        PoolSource source,
        String url,
        @Nullable String username,
        @Nullable String password) {

    JdbcUrl jdbcUrl() {
        return new JdbcUrl(url);
    }

    /** Without secrets. */
    @Override
    public String toString() {
        return "%s from %s".formatted(jdbcUrl(), source);
    }
}
