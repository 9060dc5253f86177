package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.worker.Point;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Receives the points that workers reach, and kills a worker that should die at its point. */
public final class KillPoints implements AutoCloseable {

    private record Order(Point point, CountDownLatch done) {}

    private final ServerSocket server;
    private final Map<String, Order> orders = new ConcurrentHashMap<>();
    private volatile Consumer<String> killer = worker -> {};

    /** Listens on a free port of the loopback interface. */
    public KillPoints() throws IOException {
        this.server = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Sets how a worker is killed, by its name. */
    public void killWith(Consumer<String> killer) {
        this.killer = killer;
    }

    /**
     * Kills a worker at the next point of this kind that it reaches.
     *
     * @return whether the worker reached such a point in time
     */
    boolean kill(String worker, Point point, long millis) throws InterruptedException {
        Order order = new Order(point, new CountDownLatch(1));
        orders.put(worker, order);
        if (order.done().await(millis, TimeUnit.MILLISECONDS)) {
            return true;
        }
        return !orders.remove(worker, order);
    }

    /** Handles a worker's report of a point. Returns whether the worker was killed there. */
    public boolean reached(String worker, Point point) {
        @Nullable Order order = orders.get(worker);
        if (order == null || order.point() != point || !orders.remove(worker, order)) {
            return false;
        }
        killer.accept(worker);
        order.done().countDown();
        return true;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket connection = server.accept();
                daemon(() -> serve(connection));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket connection) {
        try (connection;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8));
                Writer out = new OutputStreamWriter(connection.getOutputStream(), StandardCharsets.UTF_8)) {
            connection.setTcpNoDelay(true);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ", 2);
                if (!reached(words[0], Point.valueOf(words[1]))) {
                    out.write("go\n");
                    out.flush();
                }
            }
        } catch (IOException e) {
            // The worker is gone.
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "kill-points");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
