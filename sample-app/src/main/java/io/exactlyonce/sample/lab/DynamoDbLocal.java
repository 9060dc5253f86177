package io.exactlyonce.sample.lab;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * DynamoDB Local in memory, in a separate process. Its libraries could conflict with the workers' libraries, and its
 * licence does not allow this program to contain it. The module {@code dynamodb-local} must have downloaded it.
 */
final class DynamoDbLocal implements AutoCloseable {

    private static final Path CLASS_PATH = Path.of("dynamodb-local", "target", "classpath");
    private static final Duration START = Duration.ofSeconds(60);
    private static final long STOP_SECONDS = 10;

    /** Ends the server at the end of the shell's standard input, which ends with the lab in any case. */
    private static final String UNTIL_END_OF_INPUT = """
            "$@" &
            while read -r line; do :; done
            kill -s KILL "$!"
            """;

    private final Process shell;
    private final int port;

    private DynamoDbLocal(Process shell, int port) {
        this.shell = shell;
        this.port = port;
    }

    static DynamoDbLocal start(Workspace workspace) throws IOException, InterruptedException {
        Redirect log =
                Redirect.appendTo(workspace.logs().resolve("dynamodb.log").toFile());
        int port = freePort();
        Process shell = new ProcessBuilder(command(workspace.temporary(), port))
                .redirectOutput(log)
                .redirectError(log)
                .start();
        DynamoDbLocal server = new DynamoDbLocal(shell, port);
        if (!Deadline.in(START).waitUntil(server::listens)) {
            server.close();
            throw new LabException(
                    "DynamoDB Local did not start within %d s. Its log is %s".formatted(START.toSeconds(), log.file()),
                    null);
        }
        return server;
    }

    /**
     * Returns a worker's settings for keeping claims in DynamoDB, as environment variables of Spring Boot. Leases are
     * longer than the lab's short visibility timeouts, because first claims took two seconds while all JVMs started on
     * two cores.
     */
    Map<String, String> environment() {
        return Map.of(
                "EXACTLYONCE_CLAIM_STORE",
                Store.DYNAMODB.label(),
                "EXACTLYONCE_CLAIM_LEASE",
                "8s",
                "SPRING_CLOUD_AWS_DYNAMODB_ENDPOINT",
                "http://127.0.0.1:" + port);
    }

    @Override
    public void close() throws IOException {
        shell.getOutputStream().close();
        try {
            if (!shell.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                shell.destroyForcibly();
            }
        } catch (InterruptedException e) {
            shell.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private static List<String> command(Path temporary, int port) throws IOException {
        return List.of(
                "sh",
                "-c",
                UNTIL_END_OF_INPUT,
                "dynamodb-local",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                classPath(),
                "io.exactlyonce.dynamodb.local.OnLoopback",
                Integer.toString(port));
    }

    /** Reads the class path that the build wrote, in the repository's root or beside it. */
    private static String classPath() throws IOException {
        Path file = Stream.of(CLASS_PATH, Path.of("..").resolve(CLASS_PATH))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new LabException(
                        "DynamoDB Local is not there (%s); fetch it with ./mvnw -pl dynamodb-local generate-resources, under Amazon's"
                                        .formatted(CLASS_PATH)
                                + " DynamoDB Local License Agreement, and start the lab in the repository's root",
                        null));
        return file.resolveSibling("classes")
                + File.pathSeparator
                + Files.readString(file).strip();
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
}
