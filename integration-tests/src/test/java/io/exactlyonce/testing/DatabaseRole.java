package io.exactlyonce.testing;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A database user that a test can lock out while other users continue. For the application this looks like an outage of
 * one pool, or of its pooler.
 */
public final class DatabaseRole {

    private static final AtomicInteger ROLES = new AtomicInteger();

    private final JdbcTemplate server;
    private final String name = "application_" + ROLES.incrementAndGet();

    private DatabaseRole(String url) {
        this.server = new JdbcTemplate(EmbeddedDatabase.shared().dataSource(url));
        server.execute("CREATE ROLE %s LOGIN SUPERUSER PASSWORD '%s'"
                .formatted(name, EmbeddedDatabase.shared().password()));
    }

    /**
     * Creates a user that may do everything.
     *
     * @param url from {@link EmbeddedDatabase#createDatabase()}
     */
    public static DatabaseRole create(String url) {
        return new DatabaseRole(url);
    }

    /** Returns the user's name; its password is the superuser's. */
    public String name() {
        return name;
    }

    /** Ends the user's connections, and refuses new ones until {@link #restore()}. */
    public void shutOut() {
        server.execute("ALTER ROLE %s NOLOGIN".formatted(name));
        endSessions();
    }

    /** Ends the user's connections. New connections reach a server that refuses writes, as after a failover. */
    public void demote() {
        server.execute("ALTER ROLE %s SET default_transaction_read_only = on".formatted(name));
        endSessions();
    }

    /** Restores the user's connections and rights. Open sessions stay as they are. */
    public void restore() {
        server.execute("ALTER ROLE %s LOGIN".formatted(name));
        server.execute("ALTER ROLE %s RESET default_transaction_read_only".formatted(name));
    }

    /** Ends the user's connections. */
    public void endSessions() {
        server.queryForList("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = ?", name);
    }
}
