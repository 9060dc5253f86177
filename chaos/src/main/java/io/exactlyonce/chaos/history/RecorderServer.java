package io.exactlyonce.chaos.history;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lets workers on this machine record events. Each event is a line of JSON. The answer is a line with the event's
 * position once it is recorded, or a line that begins with {@code !} if the event is refused. A line that a killed
 * worker did not complete is dropped, and was not answered.
 */
public final class RecorderServer implements AutoCloseable {

    private static final int BACKLOG = 1_000;

    private final Recorder recorder;
    private final ServerSocket server;
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();

    /** Listens on a free port of the loopback interface. */
    public RecorderServer(Recorder recorder) throws IOException {
        this.recorder = recorder;
        this.server = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        daemon("recorder", this::accept);
    }

    /** Returns the port, for {@link RecorderClient}. */
    public int port() {
        return server.getLocalPort();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket connection = server.accept();
                connections.add(connection);
                daemon("recorder-" + connection.getPort(), () -> serve(connection));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket connection) {
        try (connection;
                BufferedReader in = Lines.reader(connection);
                BufferedWriter out = Lines.writer(connection)) {
            connection.setTcpNoDelay(true);
            for (String line = Lines.readWhole(in); line != null; line = Lines.readWhole(in)) {
                out.write(answer(line));
                out.write('\n');
                out.flush();
            }
        } catch (IOException gone) {
            // The worker was killed, or the harness ends. Recorded events stay recorded.
        } finally {
            connections.remove(connection);
        }
    }

    private String answer(String line) {
        try {
            return String.valueOf(recorder.record(EventJson.read(line)).order());
        } catch (RuntimeException refused) {
            return "!" + String.valueOf(refused.getMessage()).replace('\n', ' ');
        }
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket connection : connections) {
            connection.close();
        }
    }
}
