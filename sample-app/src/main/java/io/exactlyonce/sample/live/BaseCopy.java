package io.exactlyonce.sample.live;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Copies a running primary's directory, for a replica. The embedded server has no {@code pg_basebackup}. */
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

    /**
     * Copies the directory.
     *
     * @param primary a superuser's DataSource for the primary
     * @param target an existing, empty directory
     */
    static void copy(DataSource primary, Path target) throws IOException, SQLException {
        try (Connection connection = primary.getConnection()) {
            // A backup belongs to the session that started it.
            JdbcClient session = JdbcClient.create(new SingleConnectionDataSource(connection, true));
            Path source = Path.of(text(session, "SHOW data_directory"));
            text(session, "SELECT pg_backup_start('replica', true)::text");
            Files.walkFileTree(source, new BaseCopy(source, target));
            Files.writeString(
                    target.resolve("backup_label"), text(session, "SELECT labelfile FROM pg_backup_stop(false)"));
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
            } catch (NoSuchFileException e) {
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
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
        if (Files.exists(file)) {
            throw failure;
        }
        return FileVisitResult.CONTINUE;
    }

    private static String text(JdbcClient session, String sql) {
        return session.sql(sql).query(String.class).single();
    }
}
