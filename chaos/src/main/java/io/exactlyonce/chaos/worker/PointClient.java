package io.exactlyonce.chaos.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Reports to the harness that a point is reached, and continues when the harness answers. A worker that should die at
 * this point gets no answer.
 */
final class PointClient {

    private final int port;
    private final String worker;
    private final Queue<Connection> idle = new ConcurrentLinkedQueue<>();

    PointClient(int port, String worker) {
        this.port = port;
        this.worker = worker;
    }

    void reached(Point point) {
        try {
            @Nullable Connection taken = idle.poll();
            Connection connection = taken == null ? Connection.open(port) : taken;
            connection.ask(worker + " " + point);
            idle.add(connection);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Connection(BufferedReader in, Writer out) {

        @SuppressWarnings("resource") // Connections last as long as the JVM.
        static Connection open(int port) throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            return new Connection(
                    new BufferedReader(new java.io.InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)),
                    new java.io.OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8));
        }

        void ask(String line) throws IOException {
            out.write(line + "\n");
            out.flush();
            if (in.readLine() == null) {
                throw new IOException("The harness is gone");
            }
        }
    }
}
