package io.exactlyonce.sample.live;

import io.exactlyonce.sample.lab.Databases;
import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.PostgresGuard;
import io.exactlyonce.sample.lab.Workspace;
import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.time.Duration;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A streaming replica of the lab's PostgreSQL, with an adjustable lag. */
final class Replica implements AutoCloseable {

    private static final String NAME = "replica";

    private final LocalPostgres server;
    private final PostgresGuard guard;
    private volatile Duration lag = Duration.ZERO;

    private Replica(LocalPostgres server, PostgresGuard guard) {
        this.server = server;
        this.guard = guard;
    }

    static Replica start(Databases primary, Workspace workspace) throws IOException, SQLException {
        // The server only starts if no other user can read its directory.
        Path directory = Files.createTempDirectory(workspace.temporary(), NAME);
        BaseCopy.copy(primary.database(Kind.NAIVE), directory);
        Files.writeString(
                directory.resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=127.0.0.1 port=%d user=%s password=%s application_name=%s'%n"
                        .formatted(primary.port(), Databases.USER, LocalPostgres.password(), NAME),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
        Files.createFile(directory.resolve("standby.signal"));
        Redirect log = Redirect.appendTo(workspace.logs().resolve("replica.log").toFile());
        LocalPostgres server = LocalPostgres.start(settings -> settings.setDataDirectory(directory)
                .setCleanDataDirectory(false)
                .setOutputRedirector(log)
                .setErrorRedirector(log)
                // The server's own hook would end it before the workers.
                .setRegisterShutdownHook(false));
        return new Replica(server, PostgresGuard.start(directory));
    }

    /** Returns the JDBC URL of a side's database on the replica, with user and password. */
    String url(Kind kind) {
        return server.jdbcUrl(kind.database()) + "?user=%s&password=%s".formatted(Databases.USER, server.getPassword());
    }

    /** Makes the replica show commits this much later than the primary. */
    void setLag(Duration newLag) {
        JdbcClient session = JdbcClient.create(server.dataSource());
        session.sql("ALTER SYSTEM SET recovery_min_apply_delay = '%dms'".formatted(newLag.toMillis()))
                .update();
        session.sql("SELECT pg_reload_conf()").query(Boolean.class).single();
        lag = newLag;
    }

    Duration lag() {
        return lag;
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
