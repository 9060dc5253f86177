package io.exactlyonce.benchmarks.process;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** DynamoDB Local in a separate process, for counts only, because its speed differs from DynamoDB's. */
public final class DynamoDb implements AutoCloseable {

    /** The class path that module {@code dynamodb-local} wrote when it was built with tests. */
    private static final Path CLASS_PATH = Path.of("dynamodb-local", "target", "classpath");

    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Process process;
    private final int port;

    private DynamoDb(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts the server; empty if DynamoDB Local was not downloaded. */
    public static Optional<DynamoDb> start() throws IOException, InterruptedException {
        Optional<Path> classPath = Stream.of(CLASS_PATH, Path.of("..").resolve(CLASS_PATH))
                .filter(Files::exists)
                .findFirst();
        return classPath.isEmpty() ? Optional.empty() : Optional.of(start(read(classPath.get())));
    }

    private static String read(Path classPath) throws IOException {
        return classPath.resolveSibling("classes")
                + File.pathSeparator
                + Files.readString(classPath).strip();
    }

    private static DynamoDb start(String classPath) throws IOException, InterruptedException {
        int port = freePort();
        Process process = new ProcessBuilder(command(classPath, port))
                .redirectErrorStream(true)
                .redirectOutput(File.createTempFile("dynamodb-local", ".log"))
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        DynamoDb started = new DynamoDb(process, port);
        long beganNanos = System.nanoTime();
        while (!started.listens()) {
            if (!process.isAlive() || System.nanoTime() - beganNanos > START_NANOS) {
                process.destroyForcibly();
                throw new IOException("DynamoDB Local does not listen on port " + port);
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        return started;
    }

    private static List<String> command(String classPath, int port) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-cp",
                classPath,
                "io.exactlyonce.dynamodb.local.OnLoopback",
                String.valueOf(port));
    }

    /** Returns a worker's settings for keeping claims in DynamoDB, as properties of Spring Boot. */
    public List<String> properties() {
        return List.of(
                "exactly-once.claim.store=dynamodb", "spring.cloud.aws.dynamodb.endpoint=http://127.0.0.1:" + port);
    }

    private boolean listens() {
        try (Socket connected = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return connected.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
