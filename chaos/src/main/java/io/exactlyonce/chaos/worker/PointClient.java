package io.exactlyonce.chaos.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Reports to the harness that a point is reached, and continues when the harness answers. A worker that should die at
 * this point gets no answer.
 */
final class PointClient {

    /** Limits the connections that are kept, so that one busy moment is no growth in a soak test. */
    private static final int MOST_IDLE = 8;

    private final int port;
    private final String worker;
    private final Queue<Connection> idle = new ArrayBlockingQueue<>(MOST_IDLE);

    PointClient(int port, String worker) {
        this.port = port;
        this.worker = worker;
    }

    void reached(Point point) {
        try {
            @Nullable Connection taken = idle.poll();
            Connection connection = taken == null ? Connection.open(port) : taken;
            connection.ask(worker + " " + point);
            if (!idle.offer(connection)) {
                connection.socket().close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Connection(Socket socket, BufferedReader in, Writer out) {

        @SuppressWarnings("resource") // The connection is closed if it is not kept, or ends with the JVM.
        static Connection open(int port) throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            return new Connection(
                    socket,
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
