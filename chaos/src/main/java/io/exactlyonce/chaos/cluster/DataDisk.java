package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.springframework.util.FileSystemUtils;

/**
 * The disk of a PostgreSQL server. On Linux as root, the disk is a small file system that can be filled. Elsewhere it
 * is a plain directory.
 */
final class DataDisk implements AutoCloseable {

    private static final String SIZE = "1500m";
    private static final String BALLAST = "ballast";
    private static final int MEGABYTE = 1 << 20;

    private final Path mountPoint;
    private final ProcessGuard guard;
    private final boolean mounted;

    DataDisk(Path mountPoint, ProcessGuard guard) throws IOException {
        this.mountPoint = Files.createDirectory(mountPoint);
        this.guard = guard;
        this.mounted = run("mount", "-t", "tmpfs", "-o", "size=" + SIZE, "tmpfs", mountPoint.toString());
        if (mounted) {
            guard.mounted(mountPoint.toString());
        }
    }

    /** Returns the directory for the server's data, which does not exist yet. */
    Path data() {
        return mountPoint.resolve("data");
    }

    /** Creates the directory for the server's data. Only its owner can read it, as PostgreSQL requires. */
    Path createData() throws IOException {
        return Files.createDirectory(
                data(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    boolean canBeFilled() {
        return mounted;
    }

    /** Writes until the disk is full. */
    void fill() {
        if (!mounted) {
            throw new IllegalStateException(
                    mountPoint + " is a plain directory; filling it would fill the machine's disk");
        }
        byte[] zeros = new byte[MEGABYTE];
        try (OutputStream ballast = Files.newOutputStream(mountPoint.resolve(BALLAST))) {
            while (mountPoint.toFile().getUsableSpace() > 0) {
                ballast.write(zeros);
            }
        } catch (IOException e) {
            // The disk is full, as intended.
        }
    }

    void free() {
        try {
            Files.deleteIfExists(mountPoint.resolve(BALLAST));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        if (mounted && run("umount", "-l", mountPoint.toString())) {
            guard.unmounted(mountPoint.toString());
        }
        FileSystemUtils.deleteRecursively(mountPoint);
    }

    private static boolean run(String... command) {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
