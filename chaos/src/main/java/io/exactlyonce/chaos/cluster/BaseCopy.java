package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Copies a running primary's directory, for a replica. The bundle has no {@code pg_basebackup}. */
final class BaseCopy extends SimpleFileVisitor<Path> {

    /** Directories whose contents only the running primary needs. */
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

    private final Path source;
    private final Path target;

    private BaseCopy(Path source, Path target) {
        this.source = source;
        this.target = target;
    }

    /** @param target an existing, empty directory */
    static void copy(PostgresServer primary, Path target) throws IOException, SQLException {
        try (Connection connection = primary.dataSource("postgres").getConnection()) {
            // A backup belongs to the session that started it.
            JdbcTemplate session = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
            session.queryForList("SELECT pg_backup_start('replica', true)");
            Path source = primary.disk().data();
            Files.walkFileTree(source, new BaseCopy(source, target));
            String label = session.queryForObject("SELECT labelfile FROM pg_backup_stop(false)", String.class);
            Files.writeString(target.resolve("backup_label"), label == null ? "" : label);
        }
    }

    @Override
    public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) throws IOException {
        if (!path.equals(source)) {
            Files.createDirectory(target.resolve(source.relativize(path).toString()));
        }
        return EMPTIED.contains(String.valueOf(path.getFileName()))
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        if (!LEFT_OUT.contains(String.valueOf(file.getFileName()))) {
            try {
                Files.copy(file, target.resolve(source.relativize(file).toString()));
            } catch (java.nio.file.NoSuchFileException e) {
                return visitFileFailed(file, e);
            }
        }
        return FileVisitResult.CONTINUE;
    }

    /**
     * The primary continues to run. If it removed a file during the copy, the file is not needed, because the log
     * replays the removal.
     */
    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) {
        if (Files.exists(file)) {
            throw new UncheckedIOException(failure);
        }
        return FileVisitResult.CONTINUE;
    }
}
