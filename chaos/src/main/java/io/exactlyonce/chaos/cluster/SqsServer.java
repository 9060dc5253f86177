package io.exactlyonce.chaos.cluster;

import io.exactlyonce.servers.LocalSqs;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * ElasticMQ in a separate process, so that it can be frozen. The process is never killed: its queues are in memory, so
 * a kill would lose messages, which SQS never does.
 */
public final class SqsServer implements AutoCloseable {

    private static final int START_SECONDS = 60;
    private static final int LOOK_MILLIS = 50;

    private final Process process;
    private final int port;

    private SqsServer(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Runs the server on the port in the argument, until its standard input ends. */
    public static void main(String[] arguments) throws IOException {
        LocalSqs.start(Integer.parseInt(arguments[0]));
        while (System.in.read() >= 0) {
            // The input itself does not matter, only its end.
        }
        System.exit(0);
    }

    /** Starts the server, and waits until it listens. */
    public static SqsServer start(JavaProgram java, File log, ProcessGuard guard)
            throws IOException, InterruptedException {
        int port = Ports.free();
        List<String> command = java.command(SqsServer.class, "-Xmx1g", List.of(String.valueOf(port)));
        Process process = guard.watch(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(log))
                .start());
        SqsServer server = new SqsServer(process, port);
        long startNanos = System.nanoTime();
        while (!server.listens()) {
            if (!process.isAlive() || System.nanoTime() - startNanos > TimeUnit.SECONDS.toNanos(START_SECONDS)) {
                server.close();
                throw new IOException("The SQS server does not listen on port %d. Its log is %s".formatted(port, log));
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
        return server;
    }

    public int port() {
        return port;
    }

    /** Freezes the server. Connections stay open, and no request is answered. */
    public void freeze() {
        Signal.STOP.send(process.pid());
    }

    /** Continues the server. */
    public void thaw() {
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
