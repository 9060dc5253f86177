package io.exactlyonce.benchmarks;

import io.exactlyonce.benchmarks.process.Postgres;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** A PostgreSQL server in a separate process, as durable as in production, with the claim table. */
public final class BenchmarkDatabase implements AutoCloseable {

    /** The default number of an application's connections. */
    public static final int CONNECTIONS = 10;

    private final Postgres server;
    private final ClaimPool pool;

    /** Starts the server. */
    public BenchmarkDatabase() throws IOException {
        this(new Postgres());
    }

    private BenchmarkDatabase(Postgres server) {
        this.server = server;
        this.pool = new ClaimPool(
                new ClaimPool.Target(
                        "spring.datasource.url", server.url("postgres"), "postgres", LocalPostgres.password()),
                CONNECTIONS,
                Duration.ofSeconds(3));
        new ClaimSchema(table(pool)).create();
    }

    /** Returns the claim table on a pool, as an application has it. */
    public static ClaimTable table(ClaimPool pool) {
        return new ClaimTable(pool.dataSource(), Duration.ofDays(14), SynchronousCommit.ON);
    }

    /** Starts a server that does not wait for the disk. */
    public static BenchmarkDatabase notDurable() throws IOException {
        return new BenchmarkDatabase(new Postgres(false));
    }

    /** Returns the processor time of all of the server's processes so far. */
    public Duration processorTime() {
        return server.processorTime();
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return server.port();
    }

    /** Returns a pool as an application has it. */
    public ClaimPool pool() {
        return pool;
    }

    /** Empties the table, and flushes pending writes, so that each turn starts in the same state. */
    public void reset() throws SQLException {
        server.execute("postgres", "TRUNCATE exactly_once_claim");
        server.execute("postgres", "CHECKPOINT");
    }

    /** Returns the number of completed claims, and checks that all claims are completed. */
    public long requireAllCompleted() throws SQLException {
        try (Connection connection = server.dataSource("postgres").getConnection();
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

    @Override
    public void close() throws IOException {
        pool.close();
        server.close();
    }
}
