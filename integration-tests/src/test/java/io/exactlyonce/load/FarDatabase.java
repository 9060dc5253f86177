package io.exactlyonce.load;

import io.exactlyonce.testing.EmbeddedDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A proxy that makes the tests' PostgreSQL server look distant. The proxy delays the first bytes that a client sends
 * after an answer, and passes the other bytes at once. Each round trip therefore costs the distance once. The first
 * round trip of a connection costs it twice, because TCP connects first.
 */
final class FarDatabase implements AutoCloseable {

    private static final int PIECE = 64 * 1024;

    private final ServerSocket socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile Duration distance;

    /** @param distance the duration of a round trip */
    FarDatabase(Duration distance) throws IOException {
        this.distance = distance;
        run("far-database", this::accept);
    }

    /** Changes the distance of the database. */
    void moveTo(Duration distance) {
        this.distance = distance;
    }

    /** Returns a URL that connects to the database through this proxy. */
    String lead(String url) {
        return url.replace(":" + EmbeddedDatabase.shared().port() + "/", ":" + socket.getLocalPort() + "/");
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                connect(socket.accept());
            } catch (IOException closed) {
                // Clients detect the failure by their own connections.
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Socket server = new Socket(
                InetAddress.getLoopbackAddress(), EmbeddedDatabase.shared().port());
        open.add(client);
        open.add(server);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        AtomicInteger tolls = new AtomicInteger(2);
        run("far-database-questions", () -> carry(client, server, () -> holdUp(tolls.getAndSet(0))));
        run("far-database-answers", () -> carry(server, client, () -> tolls.set(1)));
    }

    private void holdUp(int times) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(distance.toNanos() * times);
    }

    private interface Toll {
        void pay() throws InterruptedException;
    }

    private void carry(Socket from, Socket to, Toll toll) {
        byte[] piece = new byte[PIECE];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
                toll.pay();
                out.write(piece, 0, length);
            }
        } catch (IOException | InterruptedException broken) {
            // Closing this direction ends the other direction, too.
        } finally {
            close(from);
            close(to);
        }
    }

    private void close(Socket end) {
        open.remove(end);
        try {
            end.close();
        } catch (IOException gone) {
            // The socket is closed, as intended.
        }
    }

    private static void run(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        socket.close();
        open.forEach(this::close);
    }
}
