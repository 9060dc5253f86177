package io.exactlyonce.benchmarks;

import io.exactlyonce.claim.postgres.ClaimSchemaInitializer;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/** A PostgreSQL server in a process of its own, as durable as one in production, with the claims' table. */
public final class BenchmarkDatabase implements AutoCloseable {

    /** As many connections as an application has by default. */
    public static final int CONNECTIONS = 10;

    private final EmbeddedPostgres server;
    private final PrimaryPinnedDataSource pool;

    /** Starts the server: the bundle's own defaults are not durable. */
    public BenchmarkDatabase() throws IOException {
        this.server = EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .start();
        this.pool = new PrimaryPinnedDataSource(
                "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(port()), "postgres", "", CONNECTIONS);
        new ClaimSchemaInitializer(pool, DatabaseInitializationMode.ALWAYS).initializeDatabase();
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return server.getPort();
    }

    /** Returns the pool that an application would have. */
    public PrimaryPinnedDataSource pool() {
        return pool;
    }

    /** Empties the table, and writes out what is left to write, so that each turn begins alike. */
    public void reset() throws SQLException {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("TRUNCATE exactly_once_claim");
            statement.execute("CHECKPOINT");
        }
    }

    /** Returns how many claims are completed, and checks that none is not. */
    public long requireAllCompleted() throws SQLException {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet counts = statement.executeQuery(
                        "SELECT count(*), count(*) FILTER (WHERE status = 'COMPLETED') FROM exactly_once_claim")) {
            counts.next();
            if (counts.getLong(1) != counts.getLong(2)) {
                throw new IllegalStateException("%d of %d claims are not completed"
                        .formatted(counts.getLong(1) - counts.getLong(2), counts.getLong(1)));
            }
            return counts.getLong(1);
        }
    }

    /** Returns the server's version. */
    public String version() throws SQLException {
        try (Connection connection = server.getPostgresDatabase().getConnection()) {
            return connection.getMetaData().getDatabaseProductVersion();
        }
    }

    @Override
    public void close() throws IOException {
        pool.close();
        server.close();
    }
}
