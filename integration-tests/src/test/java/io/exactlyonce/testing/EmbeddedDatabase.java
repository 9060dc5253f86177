package io.exactlyonce.testing;

import io.exactlyonce.servers.LocalPostgres;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A PostgreSQL server for tests: one for the whole JVM, started at first use and stopped with the JVM. Each test class
 * takes a database of its own:
 *
 * <pre>{@code
 * static final String URL = EmbeddedDatabase.shared().createDatabase();
 * }</pre>
 *
 * <p>The server writes as durably as one in production. All of its users have the same password.
 */
public final class EmbeddedDatabase {

    private final LocalPostgres server = LocalPostgres.start();
    private final AtomicInteger databases = new AtomicInteger();

    private EmbeddedDatabase() {}

    /** Returns the server of this JVM, and starts it at the first call. */
    public static EmbeddedDatabase shared() {
        return Holder.SHARED;
    }

    /**
     * Creates an empty database.
     *
     * @return its JDBC URL, without user and password
     */
    public String createDatabase() {
        return server.createDatabase("test_" + databases.incrementAndGet());
    }

    /** Creates a database with the encoding LATIN1, and returns its URL. */
    public String createLatin1Database() {
        String name = "latin1_" + databases.incrementAndGet();
        new JdbcTemplate(server.dataSource())
                .execute("CREATE DATABASE %s TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'".formatted(name));
        return server.jdbcUrl(name);
    }

    /** Returns the superuser's name. */
    public String username() {
        return server.getUsername();
    }

    /** Returns the superuser's password. */
    public String password() {
        return server.getPassword();
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return server.port();
    }

    /**
     * Returns superuser access to a database for a test's own statements, with a new connection for each statement.
     *
     * @param url from {@link #createDatabase()}
     */
    public DataSource dataSource(String url) {
        var dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url);
        dataSource.setUser(username());
        dataSource.setPassword(password());
        return dataSource;
    }

    /** Makes a database unavailable: ends its connections, and refuses new ones until {@link #reconnect}. */
    public void disconnect(String url) {
        JdbcTemplate server = allowConnections(url, false);
        server.queryForList(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = ?", nameOf(url));
    }

    /** Gives a database back. */
    public void reconnect(String url) {
        allowConnections(url, true);
    }

    private JdbcTemplate allowConnections(String url, boolean allowed) {
        var template = new JdbcTemplate(server.dataSource());
        template.execute("ALTER DATABASE %s ALLOW_CONNECTIONS %s".formatted(nameOf(url), allowed));
        return template;
    }

    private static String nameOf(String url) {
        return url.substring(url.lastIndexOf('/') + 1);
    }

    private static final class Holder {
        private static final EmbeddedDatabase SHARED = new EmbeddedDatabase();
    }
}
