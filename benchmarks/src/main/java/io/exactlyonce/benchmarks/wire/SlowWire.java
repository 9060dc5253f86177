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
 * Leads to a server on this machine as from afar: what a client says first after an answer, or at all, is held up, and what
 * follows until the next answer goes on at once. So a request costs the delay once, however many pieces it comes in and however
 * long it is; answers cost none.
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

    /** Returns how requests are held up: not at all at first. */
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
                // Closed, or the server refuses: a client sees that by its own connection.
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

    /** What is done with a piece before it is passed on. */
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
