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
 * A proxy that makes the tests' PostgreSQL server look distant. The first bytes of a client after an answer are
 * delayed, and the bytes until the next answer pass at once. So each round trip costs the distance once, and the first
 * one of a connection twice, because of TCP's own.
 */
final class FarDatabase implements AutoCloseable {

    private static final int PIECE = 64 * 1024;

    private final ServerSocket socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile Duration distance;

    /** @param distance a round trip's length */
    FarDatabase(Duration distance) throws IOException {
        this.distance = distance;
        run("far-database", this::accept);
    }

    /** Changes the distance of the database from now on. */
    void moveTo(Duration distance) {
        this.distance = distance;
    }

    /** Returns a database's URL that leads over the distance. */
    String lead(String url) {
        return url.replace(":" + EmbeddedDatabase.shared().port() + "/", ":" + socket.getLocalPort() + "/");
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                connect(socket.accept());
            } catch (IOException closed) {
                // Clients see it by their own connections.
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
            // The other direction ends by that, too.
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
            // That was the aim.
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
