package io.exactlyonce.servers;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A PostgreSQL server on this machine, on a free port, with an empty data directory that is deleted at the end. As a
 * bean it is the server that Spring Boot's {@code DataSource} connects to, in the schema that {@code currentSchema} or
 * {@code options} of {@code spring.datasource.url} names.
 *
 * <p>It waits for the disk as a server in production does: a commit survives a crash. It trusts every connection from
 * this machine; the superuser is {@code postgres}, without a password.
 */
public final class LocalPostgres implements JdbcConnectionDetails, EnvironmentAware, AutoCloseable {

    private static final String SUPERUSER = "postgres";

    /** A durable replica replays what its copy of the primary lacks before it answers; a busy disk makes that long. */
    private static final Duration LONGEST_START = Duration.ofMinutes(1);

    private final EmbeddedPostgres server;
    private Schemas schemas = Schemas.NONE;

    private LocalPostgres(EmbeddedPostgres server) {
        this.server = server;
    }

    /**
     * Starts a server, which ends at the latest with this JVM.
     *
     * @throws UncheckedIOException if it does not start
     */
    public static LocalPostgres start() {
        return start(settings -> {});
    }

    /**
     * Starts a server with the caller's settings.
     *
     * @param settings changes, for example, the port, the data directory or the server's parameters
     * @throws UncheckedIOException if it does not start
     */
    public static LocalPostgres start(Consumer<EmbeddedPostgres.Builder> settings) {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setPGStartupWait(LONGEST_START);
        settings.accept(builder);
        try {
            return new LocalPostgres(builder.start());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * Creates an empty database beside {@code postgres}, which is always there.
     *
     * @return its JDBC URL, without user and password
     */
    public String createDatabase(String name) {
        new JdbcTemplate(dataSource()).execute("CREATE DATABASE " + name);
        return jdbcUrl(name);
    }

    /** Returns the JDBC URL of a database, without user and password. */
    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port(), database);
    }

    /**
     * Returns the superuser's access to the database {@code postgres}, without a pool: each connection is a new one.
     */
    public DataSource dataSource() {
        return server.getPostgresDatabase();
    }

    /** Returns the same for another database. */
    public DataSource dataSource(String database) {
        return server.getDatabase(SUPERUSER, database);
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return server.getPort();
    }

    /** Creates the schemas that the application's properties name, as its production database has them. */
    @Override
    public void setEnvironment(Environment environment) {
        schemas = Schemas.of(environment);
        schemas.create(new JdbcTemplate(dataSource()));
    }

    @Override
    public String getJdbcUrl() {
        return jdbcUrl("postgres") + schemas.parameters();
    }

    @Override
    public String getUsername() {
        return SUPERUSER;
    }

    @Override
    public String getPassword() {
        return "";
    }

    /** Stops the server, and deletes its data unless the settings say otherwise. */
    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
