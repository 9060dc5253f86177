package io.exactlyonce.sample.lab;

import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;

/** A real PostgreSQL server, as durable as in production, with a database for each side. */
public final class Databases implements AutoCloseable {

    /** The name of a superuser. */
    public static final String USER = "postgres";

    private final LocalPostgres server;
    private final PostgresGuard guard;

    private Databases(LocalPostgres server, PostgresGuard guard) {
        this.server = server;
        this.guard = guard;
    }

    /** Starts the server. */
    public static Databases start(Workspace workspace) throws IOException {
        Redirect log =
                Redirect.appendTo(workspace.logs().resolve("postgres.log").toFile());
        LocalPostgres server = LocalPostgres.start(settings -> settings.setDataDirectory(workspace.postgresData())
                .setServerConfig("max_connections", "200")
                .setOutputRedirector(log)
                .setErrorRedirector(log)
                // The server's own hook would end it before the workers.
                .setRegisterShutdownHook(false));
        Databases databases = new Databases(server, PostgresGuard.start(workspace.postgresData()));
        for (Kind kind : Kind.values()) {
            server.createDatabase(kind.database());
        }
        return databases;
    }

    /** Returns a worker's settings for its database, as environment variables of Spring Boot. */
    public Map<String, String> environment(Kind kind) {
        return Map.of(
                "SPRING_DATASOURCE_URL", server.jdbcUrl(kind.database()),
                "SPRING_DATASOURCE_USERNAME", USER,
                "SPRING_DATASOURCE_PASSWORD", server.getPassword());
    }

    /** Returns a DataSource for a side's database, with the superuser as its user. */
    public DataSource database(Kind kind) {
        return server.dataSource(kind.database());
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return server.port();
    }

    String version() throws SQLException {
        try (Connection connection = server.dataSource().getConnection()) {
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
