package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The run's temporary directory. It is removed at the end, except for the logs of a failed run. */
public final class Workspace implements AutoCloseable {

    private final Path root;
    private volatile boolean keepLogs;

    private Workspace(Path root) {
        this.root = root;
    }

    /** Makes a workspace, and lets this process log there. */
    public static Workspace create() throws IOException {
        Workspace workspace = new Workspace(Files.createTempDirectory("incident-lab-"));
        Files.createDirectories(workspace.logs());
        Files.createDirectories(workspace.temporary());
        // The lab's own log; see logback-lab.xml.
        System.setProperty("lab.log", workspace.logs().resolve("lab.log").toString());
        return workspace;
    }

    /** Returns the directory for logs of servers and workers. */
    public Path logs() {
        return root.resolve("logs");
    }

    /** Returns the directory for other files. */
    public Path temporary() {
        return root.resolve("tmp");
    }

    Path postgresData() {
        return root.resolve("postgres");
    }

    /** Keeps the logs at the end. */
    public void keepLogs() {
        keepLogs = true;
    }

    @Override
    public void close() throws IOException {
        delete(postgresData());
        delete(temporary());
        if (!keepLogs) {
            delete(root);
        }
    }

    private static void delete(Path directory) throws IOException {
        if (Files.notExists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(Workspace::deleteOne);
        }
    }

    private static void deleteOne(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
