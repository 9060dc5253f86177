package io.exactlyonce.primary;

import org.jspecify.annotations.Nullable;

/**
 * The database in which claims are kept, and the way in.
 *
 * @param source what named it
 * @param url its JDBC URL
 * @param username user, or {@code null} if the URL or the driver knows it
 * @param password password, or {@code null} if there is none
 * @param schema where tables are looked for, or {@code null} if the URL or the server says
 * @param initSql statement that each new connection begins with, or {@code null} if there is none
 */
public record ConnectionTarget(
        Source source,
        String url,
        @Nullable String username,
        @Nullable String password,
        @Nullable String schema,
        @Nullable String initSql) {

    /** What named the database in which claims are kept. */
    public enum Source {
        /** The application's connection details, also a service connection's. */
        APPLICATION("the application's connection details", "spring.datasource.url"),
        /** The properties for claims alone. */
        PROPERTIES("exactly-once.datasource", "exactly-once.datasource.url"),
        /** A bean of the application's. */
        MARKED_BEAN("the bean marked @ExactlyOnceDataSource", "the DataSource marked @ExactlyOnceDataSource");

        private final String description;
        private final String setting;

        Source(String description, String setting) {
            this.description = description;
            this.setting = setting;
        }

        /** Returns what leads to the URL that a remedy asks to change. */
        String urlSetting() {
            return this == MARKED_BEAN ? "the URL of " + setting : setting;
        }

        /** Returns what a remedy asks to change. */
        String setting() {
            return setting;
        }

        @Override
        public String toString() {
            return description;
        }
    }

    /** A target of whose connections nothing is demanded but what the URL says. */
    public ConnectionTarget(Source source, String url, @Nullable String username, @Nullable String password) {
        this(source, url, username, password, null, null);
    }

    JdbcUrl jdbcUrl() {
        return new JdbcUrl(url);
    }

    /** Without secrets. */
    @Override
    public String toString() {
        return "%s from %s".formatted(jdbcUrl(), source);
    }
}
