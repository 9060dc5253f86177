package io.exactlyonce.benchmarks.process;

import io.exactlyonce.benchmarks.load.ProcessTree;
import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** A PostgreSQL server in a separate process, as durable as in production. */
public final class Postgres implements AutoCloseable {

    private final LocalPostgres server;
    private final ProcessTree processes;

    /** Starts the server. */
    public Postgres() throws IOException {
        this(true);
    }

    /** @param isDurable whether the server waits for the disk; if not, only its processor time counts */
    public Postgres(boolean isDurable) throws IOException {
        this(Map.of("fsync", isDurable ? "on" : "off"));
    }

    private Postgres(Map<String, String> parameters) throws IOException {
        this.server = LocalPostgres.start(settings -> {
            settings.setServerConfig("max_connections", "500");
            parameters.forEach(settings::setServerConfig);
        });
        this.processes = new ProcessTree(postmaster());
        processes.adopt();
    }

    /**
     * Starts a durable server whose log could not feed a replica. Such a server writes the rows of a new table once
     * instead of twice.
     */
    public static Postgres withMinimalLog() throws IOException {
        return new Postgres(Map.of("wal_level", "minimal", "max_wal_senders", "0", "max_wal_size", "4GB"));
    }

    /** Returns the server's process id, which only the server knows: the program that started it has ended. */
    private long postmaster() throws IOException {
        try (Connection connection = dataSource("postgres").getConnection();
                Statement statement = connection.createStatement();
                ResultSet file =
                        statement.executeQuery("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")) {
            file.next();
            return file.getLong(1);
        } catch (SQLException e) {
            throw new IOException("PostgreSQL does not tell its process", e);
        }
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return server.port();
    }

    /** Returns a database's JDBC URL. */
    public String url(String database) {
        return url(port(), database);
    }

    static String url(int port, String database) {
        return "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, database);
    }

    /** Returns a DataSource for a database, with the superuser as its user and without a pool. */
    public DataSource dataSource(String database) {
        return server.dataSource(database);
    }

    /** Creates an empty database. */
    public void create(String database) throws SQLException {
        execute("postgres", "CREATE DATABASE " + database);
    }

    /** Empties all tables of a database, and flushes pending writes, so that each turn starts in the same state. */
    public void empty(String database) throws SQLException {
        List<String> tables = new ArrayList<>();
        try (Connection connection = dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet found =
                        statement.executeQuery("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")) {
            while (found.next()) {
                tables.add(found.getString(1));
            }
        }
        execute(database, "TRUNCATE " + String.join(", ", tables));
        execute(database, "CHECKPOINT");
    }

    /** Executes a statement. */
    public void execute(String database, String sql) throws SQLException {
        try (Connection connection = dataSource(database).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Returns the processor time of all of the server's processes so far. */
    public Duration processorTime() {
        return processes.processorTime();
    }

    /** Returns the server's version. */
    public String version() throws SQLException {
        try (Connection connection = dataSource("postgres").getConnection()) {
            return connection.getMetaData().getDatabaseProductVersion();
        }
    }

    @Override
    public void close() throws IOException {
        processes.release();
        server.close();
    }
}
