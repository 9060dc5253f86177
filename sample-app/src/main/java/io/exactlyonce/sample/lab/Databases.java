package io.exactlyonce.sample.lab;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import javax.sql.DataSource;

/** A real PostgreSQL, as durable as in production, with a database for each side. */
public final class Databases implements AutoCloseable {

    /** A superuser's name, and its password. */
    public static final String USER = "postgres";

    private final EmbeddedPostgres server;
    private final PostgresGuard guard;

    private Databases(EmbeddedPostgres server, PostgresGuard guard) {
        this.server = server;
        this.guard = guard;
    }

    /** Starts the server. */
    public static Databases start(Workspace workspace) throws IOException, SQLException {
        Redirect log =
                Redirect.appendTo(workspace.logs().resolve("postgres.log").toFile());
        // The embedded server's own defaults are off; a commit that a crash forgets would prove nothing.
        EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setDataDirectory(workspace.postgresData())
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("max_connections", "200")
                .setOutputRedirector(log)
                .setErrorRedirector(log)
                // Its own hook would end it before the workers.
                .setRegisterShutdownHook(false)
                .start();
        Databases databases = new Databases(server, PostgresGuard.start(workspace.postgresData()));
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            for (Kind kind : Kind.values()) {
                statement.execute("CREATE DATABASE " + kind.database());
            }
        }
        return databases;
    }

    /** Returns what a worker needs to connect, as Spring Boot's environment variables. */
    public Map<String, String> environment(Kind kind) {
        return Map.of(
                "SPRING_DATASOURCE_URL",
                        "jdbc:postgresql://127.0.0.1:%d/%s".formatted(server.getPort(), kind.database()),
                "SPRING_DATASOURCE_USERNAME", USER,
                "SPRING_DATASOURCE_PASSWORD", USER);
    }

    /** Returns a superuser's way into a side's database. */
    public DataSource database(Kind kind) {
        return server.getDatabase(USER, kind.database());
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return server.getPort();
    }

    String version() throws SQLException {
        try (Connection connection = server.getPostgresDatabase().getConnection()) {
            return connection.getMetaData().getDatabaseProductVersion();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            server.close();
        } finally {
            guard.close();
        }
    }
}
