package io.exactlyonce.benchmarks.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A wire to a server on this machine that is as slow as a distant server. The first bytes that a client sends, and the
 * first after each answer, are delayed. All following bytes, until the next answer, pass at once. A request therefore
 * costs one delay, whatever its size, and answers cost none.
 */
public final class SlowWire implements AutoCloseable {

    private static final int BACKLOG = 200;
    private static final int PIECE = 64 * 1024;

    private final ServerSocket socket;
    private final int target;
    private final Delay delay = new Delay();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    /**
     * Opens a wire on a free port.
     *
     * @param target the server's port
     */
    public SlowWire(int target) throws IOException {
        this.socket = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        this.target = target;
        run("wire", this::accept);
    }

    /** Returns the port on which clients connect. */
    public int port() {
        return socket.getLocalPort();
    }

    /** Returns the delay of requests, which is zero at first. */
    public Delay delay() {
        return delay;
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                open.add(client);
                connect(client);
            } catch (IOException e) {
                // The socket is closed, or the server refused the connection. The client sees that on its own
                // connection.
            }
        }
    }

    private void connect(Socket client) throws IOException {
        try {
            Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
            open.add(server);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            AtomicBoolean answered = new AtomicBoolean(true);
            run("wire-requests", () -> carryRequests(client, server, answered));
            run("wire-answers", () -> carryAnswers(server, client, answered));
        } catch (IOException refused) {
            close(client);
            throw refused;
        }
    }

    private void carryRequests(Socket client, Socket server, AtomicBoolean answered) {
        carry(client, server, arrived -> {
            if (answered.compareAndSet(true, false)) {
                delay.holdUp(arrived);
            }
        });
    }

    private void carryAnswers(Socket server, Socket client, AtomicBoolean answered) {
        carry(server, client, arrived -> answered.set(true));
    }

    /** Runs before a piece is passed on. */
    private interface Toll {
        void pay(long arrived);
    }

    private void carry(Socket from, Socket to, Toll toll) {
        byte[] piece = new byte[PIECE];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
                toll.pay(delay.now());
                out.write(piece, 0, length);
            }
        } catch (IOException broken) {
            // Closing also ends the other direction.
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
