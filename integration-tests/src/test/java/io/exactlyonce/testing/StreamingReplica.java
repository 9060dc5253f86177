package io.exactlyonce.testing;

import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.util.FileSystemUtils;

/**
 * A real streaming replica of a running embedded server, made from a base copy over SQL, because the bundle has no
 * {@code pg_basebackup}.
 */
public final class StreamingReplica implements AutoCloseable {

    /** Directories whose contents belong only to the running primary. */
    private static final Set<String> EMPTIED = Set.of(
            "pg_wal",
            "pg_replslot",
            "pg_dynshmem",
            "pg_notify",
            "pg_stat_tmp",
            "pg_snapshots",
            "pg_subtrans",
            "pg_serial");

    private static final Set<String> LEFT_OUT = Set.of("postmaster.pid", "postmaster.opts", "epg-lock");

    private final Path directory;
    private final LocalPostgres server;

    /** @param primary superuser access to the primary */
    public StreamingReplica(DataSource primary, int primaryPort) throws IOException, SQLException {
        this(primary, primaryPort, "replica", Duration.ZERO);
    }

    /**
     * Makes a replica that lags.
     *
     * @param primary superuser access to the primary
     * @param name its {@code application_name}
     * @param delay how long it waits before it shows a commit
     */
    public StreamingReplica(DataSource primary, int primaryPort, String name, Duration delay)
            throws IOException, SQLException {
        this.directory = Files.createTempDirectory("replica");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        try (Connection connection = primary.getConnection()) {
            copy(new JdbcTemplate(new SingleConnectionDataSource(connection, true)));
        }
        Files.writeString(
                directory.resolve("postgresql.auto.conf"),
                """
                primary_conninfo = 'host=127.0.0.1 port=%d user=postgres password=%s application_name=%s'
                recovery_min_apply_delay = '%dms'
                """.formatted(primaryPort, LocalPostgres.password(), name, delay.toMillis()),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
        Files.createFile(directory.resolve("standby.signal"));
        this.server = LocalPostgres.start(
                settings -> settings.setDataDirectory(directory).setCleanDataDirectory(false));
    }

    /** Returns the port on which the replica listens. */
    public int port() {
        return server.port();
    }

    @Override
    public void close() throws IOException {
        server.close();
        FileSystemUtils.deleteRecursively(directory);
    }

    private void copy(JdbcTemplate primary) throws IOException {
        Path source = Path.of(primary.queryForObject("SHOW data_directory", String.class));
        primary.queryForList("SELECT pg_backup_start('replica', true)");
        Files.walkFileTree(source, new Copy(source));
        String label = primary.queryForObject("SELECT labelfile FROM pg_backup_stop(false)", String.class);
        Files.writeString(directory.resolve("backup_label"), label);
    }

    private final class Copy extends SimpleFileVisitor<Path> {

        private final Path source;

        Copy(Path source) {
            this.source = source;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) throws IOException {
            if (!path.equals(source)) {
                Files.createDirectory(directory.resolve(source.relativize(path).toString()));
            }
            return EMPTIED.contains(path.getFileName().toString())
                    ? FileVisitResult.SKIP_SUBTREE
                    : FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            if (!LEFT_OUT.contains(file.getFileName().toString())) {
                Files.copy(file, directory.resolve(source.relativize(file).toString()));
            }
            return FileVisitResult.CONTINUE;
        }

        /**
         * The primary continues to run. A file that it removes during the copy is not needed, because replaying the log
         * removes it, too.
         */
        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) {
            if (Files.exists(file)) {
                throw new UncheckedIOException(failure);
            }
            return FileVisitResult.CONTINUE;
        }
    }
}
