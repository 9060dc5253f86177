package io.exactlyonce.chaos.history;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * A worker's connection to a {@link RecorderServer} on the same machine. Many threads may record at the same time: each
 * takes a connection for its event and returns it. An interrupt does not prevent the record of an event.
 */
public final class RecorderClient implements AutoCloseable {

    /** Limits the connections that are kept, so that one busy moment is no growth in a soak test. */
    private static final int MOST_IDLE = 8;

    private final int port;
    private final String worker;
    private final Queue<Connection> idle = new ArrayBlockingQueue<>(MOST_IDLE);

    /**
     * Makes a client, which connects at the first event.
     *
     * @param port of the server
     * @param worker name of this JVM, added to each event without a worker
     */
    public RecorderClient(int port, String worker) {
        this.port = port;
        this.worker = worker;
    }

    /**
     * Records an event as the latest one, and returns when it is recorded.
     *
     * @return the event's position in the history
     * @throws IllegalArgumentException if the event lacks a part that its kind requires
     * @throws UncheckedIOException if the harness is gone
     */
    public long record(Event event) {
        String line = EventJson.write(event.worker().isEmpty() ? event.by(worker) : event);
        try {
            @Nullable Connection taken = idle.poll();
            Connection connection = taken == null ? Connection.open(port) : taken;
            String answer = connection.ask(line);
            if (!idle.offer(connection)) {
                connection.close();
            }
            if (answer.startsWith("!")) {
                throw new IllegalArgumentException(answer.substring(1));
            }
            return Long.parseLong(answer);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() {
        for (Connection connection = idle.poll(); connection != null; connection = idle.poll()) {
            connection.close();
        }
    }

    private record Connection(Socket socket, BufferedReader in, BufferedWriter out) {

        static Connection open(int port) throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            return new Connection(socket, Lines.reader(socket), Lines.writer(socket));
        }

        String ask(String line) throws IOException {
            out.write(line);
            out.write('\n');
            out.flush();
            String answer = Lines.readWhole(in);
            if (answer == null) {
                close();
                throw new IOException("The recorder has closed the connection");
            }
            return answer;
        }

        void close() {
            try {
                socket.close();
            } catch (IOException ignored) {
                // The connection is not used again.
            }
        }
    }
}
