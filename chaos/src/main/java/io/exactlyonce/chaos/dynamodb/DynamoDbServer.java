package io.exactlyonce.chaos.dynamodb;

import io.exactlyonce.chaos.cluster.Ports;
import io.exactlyonce.chaos.cluster.ProcessGuard;
import io.exactlyonce.chaos.cluster.Signal;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * DynamoDB Local in a separate process, so that it can be frozen. The process is never killed: its tables are in
 * memory, so a kill would lose items, which DynamoDB never does.
 */
final class DynamoDbServer implements AutoCloseable {

    /** The class path that module {@code dynamodb-local} wrote. */
    private static final Path CLASS_PATH = Path.of("..", "dynamodb-local", "target", "classpath");

    private static final int START_SECONDS = 60;
    private static final int LOOK_MILLIS = 50;

    private final Process process;
    private final int port;

    private DynamoDbServer(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts the server, and waits until it listens. */
    static DynamoDbServer start(Path log, ProcessGuard guard) throws IOException, InterruptedException {
        int port = Ports.free();
        Process process = guard.watch(new ProcessBuilder(command(port))
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(log.toFile()))
                .start());
        DynamoDbServer server = new DynamoDbServer(process, port);
        long startNanos = System.nanoTime();
        while (!server.listens()) {
            if (!process.isAlive() || System.nanoTime() - startNanos > TimeUnit.SECONDS.toNanos(START_SECONDS)) {
                server.close();
                throw new IOException("DynamoDB Local does not listen on port %d. Its log is %s".formatted(port, log));
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
        return server;
    }

    private static List<String> command(int port) throws IOException {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                CLASS_PATH.resolveSibling("classes")
                        + File.pathSeparator
                        + Files.readString(CLASS_PATH).strip(),
                "io.exactlyonce.dynamodb.local.OnLoopback",
                String.valueOf(port));
    }

    int port() {
        return port;
    }

    /** Freezes the server. Connections stay open, and no request is answered. */
    void freeze() {
        Signal.STOP.send(process.pid());
    }

    /** Continues the server. */
    void thaw() {
        Signal.CONT.send(process.pid());
    }

    private boolean listens() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
