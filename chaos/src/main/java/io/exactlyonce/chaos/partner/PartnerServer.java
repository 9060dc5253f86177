package io.exactlyonce.chaos.partner;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.exactlyonce.chaos.history.Recorder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/** The partner's HTTP interface, on a free port of the loopback interface. */
public final class PartnerServer implements AutoCloseable {

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(PartnerServer::daemon);
    private final Ledger ledger;

    /** Starts the server. The recorder keeps its ledgers. */
    public PartnerServer(Recorder recorder) throws IOException {
        this.ledger = new Ledger(recorder);
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        server.setExecutor(threads);
        server.createContext("/honours", exchange -> {
            ledger.actOnce(
                    query(exchange, "key"),
                    query(exchange, "call"),
                    exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            answer(exchange, "done");
        });
        server.createContext("/ignores", exchange -> {
            ledger.act(query(exchange, "key"), query(exchange, "call"));
            answer(exchange, "done");
        });
        server.createContext(
                "/acted", exchange -> answer(exchange, String.valueOf(ledger.hasActed(query(exchange, "key")))));
        server.start();
    }

    public String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private static String query(HttpExchange exchange, String name) {
        return Stream.of(exchange.getRequestURI().getQuery().split("&", -1))
                .filter(pair -> pair.startsWith(name + "="))
                .map(pair -> pair.substring(name.length() + 1))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("The request lacks its " + name));
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "partner");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
