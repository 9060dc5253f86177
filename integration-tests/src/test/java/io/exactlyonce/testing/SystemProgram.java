package io.exactlyonce.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.springframework.util.FileSystemUtils;

/**
 * A server program of the operating system, in the foreground and in a directory of its own, until it is closed. If
 * this JVM runs as root, the program runs as a user without rights, because some programs refuse root.
 */
final class SystemProgram implements AutoCloseable {

    private static final int UNPRIVILEGED = 65534;
    private static final long SECONDS_TO_STOP = 10;

    private final Path directory;
    private final String stopSignal;
    private Process process;

    /** @param stopSignal the signal that ends the program at once, even with open connections */
    SystemProgram(String stopSignal) throws IOException {
        // Only its owner may enter the directory, because its files contain passwords.
        this.directory = Files.createTempDirectory("program");
        this.stopSignal = stopSignal;
        if (isRoot()) {
            Files.setAttribute(directory, "unix:uid", UNPRIVILEGED);
        }
    }

    static Optional<Path> find(String name) {
        return Stream.concat(Stream.of(System.getenv("PATH").split(":")), Stream.of("/usr/sbin", "/usr/local/sbin"))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    Path directory() {
        return directory;
    }

    Path file(String name, String content) throws IOException {
        return Files.writeString(directory.resolve(name), content);
    }

    void start(String name, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("setpriv", "--reuid=" + UNPRIVILEGED, "--regid=" + UNPRIVILEGED, "--clear-groups"));
        }
        command.add(find(name).orElseThrow().toString());
        command.addAll(List.of(arguments));
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile())
                .start();
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    void requireAlive() throws IOException {
        if (!process.isAlive()) {
            throw new IllegalStateException("It ended: " + Files.readString(directory.resolve("output")));
        }
    }

    @Override
    public void close() throws IOException {
        try {
            new ProcessBuilder("kill", "-" + stopSignal, String.valueOf(process.pid())).start();
            if (!process.waitFor(SECONDS_TO_STOP, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        FileSystemUtils.deleteRecursively(directory);
    }
}
