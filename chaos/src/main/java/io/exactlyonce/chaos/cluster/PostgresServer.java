package io.exactlyonce.chaos.cluster;

import io.exactlyonce.servers.LocalPostgres;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** One PostgreSQL server, primary or replica. Its process is started, killed, stopped and restarted. */
final class PostgresServer implements AutoCloseable {

    static final String USER = "postgres";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The longest recovery. Those of a run take a few seconds, because a checkpoint limits the log to 256 MB. */
    private static final Duration RECOVERY = Duration.ofSeconds(30);

    private static final long LOOK_MILLIS = 50;

    private final PostgresBinaries binaries;
    private final DataDisk disk;
    private final File log;
    private final ProcessGuard guard;
    private final int port;
    private volatile @Nullable Process process;

    PostgresServer(PostgresBinaries binaries, DataDisk disk, File log, ProcessGuard guard) throws IOException {
        this.binaries = binaries;
        this.disk = disk;
        this.log = log;
        this.guard = guard;
        this.port = Ports.free();
    }

    int port() {
        return port;
    }

    DataDisk disk() {
        return disk;
    }

    /**
     * Starts the server, and waits until it answers. Tries again while remains of a killed server are cleaned up. Kills
     * a server that is alive and does not answer, as an operator would: PostgreSQL 18 can stay so after its recovery
     * ended with an error.
     */
    void start() throws IOException, InterruptedException {
        long startNanos = System.nanoTime();
        boolean killed = false;
        while (System.nanoTime() - startNanos < PATIENCE.toNanos()) {
            if (!killed && System.nanoTime() - startNanos > RECOVERY.toNanos()) {
                kill();
                killed = true;
            }
            Process current = process;
            if (current == null || !current.isAlive()) {
                process = guard.watch(new ProcessBuilder(binaries.command(disk.data(), port))
                        .redirectErrorStream(true)
                        .redirectOutput(Redirect.appendTo(log))
                        .start());
            }
            if (answers()) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
        throw new IOException("PostgreSQL on port %d does not answer after %d s. Its log is %s"
                .formatted(port, PATIENCE.toSeconds(), log));
    }

    /** Sends SIGKILL to the server and all of its backends, as if its machine had lost power. */
    void kill() throws InterruptedException {
        Process victim = process;
        if (victim == null) {
            return;
        }
        List<ProcessHandle> backends = victim.descendants().toList();
        victim.destroyForcibly();
        backends.forEach(ProcessHandle::destroyForcibly);
        victim.waitFor();
    }

    /** Shuts the server down fast, and kills it if the shutdown takes too long. */
    void stop() throws InterruptedException {
        Process current = process;
        if (current != null && current.isAlive()) {
            Signal.INT.send(current.pid());
            if (!current.waitFor(10, TimeUnit.SECONDS)) {
                kill();
            }
        }
    }

    JdbcTemplate template() {
        return new JdbcTemplate(dataSource("postgres"));
    }

    /** Returns a DataSource for a database, with the superuser as its user and without a pool. */
    DataSource dataSource(String database) {
        return new DriverManagerDataSource(
                "jdbc:postgresql://127.0.0.1:%d/%s?connectTimeout=5&socketTimeout=30".formatted(port, database),
                USER,
                LocalPostgres.password());
    }

    private boolean answers() {
        try (Connection connection = dataSource("postgres").getConnection()) {
            return connection.isValid(1);
        } catch (SQLException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        try {
            stop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        disk.close();
    }
}
