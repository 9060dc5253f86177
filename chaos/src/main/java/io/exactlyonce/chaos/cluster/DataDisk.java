package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.springframework.util.FileSystemUtils;

/**
 * Where a PostgreSQL server keeps its data: a small disk of its own that can be filled, where the operating system permits
 * to mount one (Linux, as root), else a plain directory.
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

    /** Creates the directory for the server's data, readable by its owner alone, as PostgreSQL demands. */
    Path createData() throws IOException {
        return Files.createDirectory(
                data(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    boolean canBeFilled() {
        return mounted;
    }

    /** Writes until nothing fits any more. */
    void fill() {
        if (!mounted) {
            throw new IllegalStateException(mountPoint + " is no disk of its own; filling it would fill the machine's");
        }
        byte[] zeros = new byte[MEGABYTE];
        try (OutputStream ballast = Files.newOutputStream(mountPoint.resolve(BALLAST))) {
            while (mountPoint.toFile().getUsableSpace() > 0) {
                ballast.write(zeros);
            }
        } catch (IOException e) {
            // That is what was asked for: no space is left.
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
