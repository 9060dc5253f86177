package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;

/**
 * The wire between a worker and a server. All connections of the wire can be cut, slowed or black-holed. The target is
 * read anew for each connection, as with an address that moves to another machine.
 */
public final class TcpProxy implements AutoCloseable {

    private static final int CONNECT_MILLIS = 2_000;
    private static final int CHUNK = 16 * 1024;

    private final ServerSocket socket;
    private final IntSupplier target;
    private final Gate gate = new Gate();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    private TcpProxy(ServerSocket socket, IntSupplier target) {
        this.socket = socket;
        this.target = target;
    }

    /**
     * Opens a wire on a free port.
     *
     * @param target the port on this machine, read for each connection
     */
    public static TcpProxy start(String name, IntSupplier target) throws IOException {
        TcpProxy proxy = new TcpProxy(new ServerSocket(0, 200, InetAddress.getLoopbackAddress()), target);
        proxy.run(name, proxy::accept);
        return proxy;
    }

    public int port() {
        return socket.getLocalPort();
    }

    /** Changes how traffic is treated from now on. */
    public void set(Traffic traffic) {
        gate.set(traffic);
        if (traffic.kind() == Traffic.Kind.CUT) {
            reset();
        }
    }

    /** Breaks all open connections. New connections are accepted. */
    public void reset() {
        open.forEach(TcpProxy::closeQuietly);
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                open.add(client);
                run("proxy-requests", () -> connect(client));
            } catch (IOException e) {
                // The socket is closed, or the process has no file descriptors left. The loop's condition decides.
            }
        }
    }

    private void connect(Socket client) {
        Socket server = new Socket();
        open.add(server);
        try {
            gate.pass(true);
            server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target.getAsInt()), CONNECT_MILLIS);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            run("proxy-replies", () -> pump(server, client, false));
            pump(client, server, true);
        } catch (IOException e) {
            close(client, server);
        }
    }

    private void pump(Socket from, Socket to, boolean requests) {
        byte[] chunk = new byte[CHUNK];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
                gate.pass(requests);
                out.write(chunk, 0, length);
            }
        } catch (IOException e) {
            // Closing also ends the other pump of this connection.
        } finally {
            close(from, to);
        }
    }

    private void close(Socket client, Socket server) {
        closeQuietly(client);
        closeQuietly(server);
        open.remove(client);
        open.remove(server);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // The socket is already closed.
        }
    }

    private void run(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        gate.set(Traffic.open());
        socket.close();
        reset();
    }
}
