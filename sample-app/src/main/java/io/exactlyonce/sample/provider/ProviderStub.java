package io.exactlyonce.sample.provider;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The services that a worker calls, on loopback: {@code POST /charges} charges at once; {@code POST /confirmations}
 * answers after the order's delay; {@code POST /shipments} ships at once. Each side of the lab has separate services.
 */
public final class ProviderStub implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.shared();

    private final Ledger ledger = new Ledger();
    private final Ledger shipments = new Ledger();
    private final AtomicInteger pending = new AtomicInteger();
    private final Function<String, Duration> mailDelay;
    private final ProviderObserver observer;
    private final HttpServer server;
    private final ExecutorService requests = Executors.newCachedThreadPool();

    private ProviderStub(HttpServer server, Function<String, Duration> mailDelay, ProviderObserver observer) {
        this.server = server;
        this.mailDelay = mailDelay;
        this.observer = observer;
    }

    /**
     * Starts the services.
     *
     * @param port the port, or 0 for a free port
     * @param mailDelay the delay of an order's confirmation
     * @param observer receives each request
     */
    public static ProviderStub start(int port, Function<String, Duration> mailDelay, ProviderObserver observer)
            throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        ProviderStub stub = new ProviderStub(server, mailDelay, observer);
        server.setExecutor(stub.requests);
        server.createContext("/charges", stub::charge);
        server.createContext("/shipments", stub::ship);
        server.createContext("/confirmations", stub::confirm);
        server.start();
        return stub;
    }

    /** Returns the address that workers call. */
    public URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** Returns the ledger's current figures. */
    public Statement statement() {
        return ledger.statement();
    }

    /** Returns how often each order was shipped so far. */
    public Statement shipments() {
        return shipments.statement();
    }

    /** Notes that a worker is killed. Call this just before the kill. */
    public void workerIsKilled(String worker) {
        ledger.killed(worker);
    }

    /** Returns whether no handler waits for an answer. */
    public boolean isIdle() {
        return pending.get() == 0;
    }

    @Override
    public void close() {
        server.stop(0);
        requests.shutdownNow();
    }

    private void charge(HttpExchange exchange) throws IOException {
        try {
            String orderId = orderId(exchange);
            String worker = worker(exchange);
            Charge charge = ledger.charge(orderId, worker, idempotencyKey(exchange), isInDoubt(exchange));
            observer.charged(orderId, worker, charge.chargeId());
            answer(exchange, 200, Map.of("chargeId", charge.chargeId()));
        } catch (KeyReusedException e) {
            answer(exchange, 422, Map.of("error", String.valueOf(e.getMessage())));
        }
    }

    private void ship(HttpExchange exchange) throws IOException {
        String orderId = orderId(exchange);
        Charge shipment = shipments.charge(orderId, worker(exchange), idempotencyKey(exchange), false);
        observer.shipped(orderId, shipment.chargeId());
        answer(exchange, 200, Map.of());
    }

    private void confirm(HttpExchange exchange) throws IOException {
        String orderId = orderId(exchange);
        pending.incrementAndGet();
        String worker = worker(exchange);
        observer.confirmationRequested(orderId, worker);
        CompletableFuture.delayedExecutor(mailDelay.apply(orderId).toNanos(), TimeUnit.NANOSECONDS, requests)
                .execute(() -> answerConfirmation(exchange, orderId, worker));
    }

    private void answerConfirmation(HttpExchange exchange, String orderId, String worker) {
        pending.decrementAndGet();
        observer.confirmationAnswered(orderId, worker);
        try {
            answer(exchange, 200, Map.of());
        } catch (IOException workerIsGone) {
            exchange.close();
        }
    }

    private static void answer(HttpExchange exchange, int status, Map<String, String> body) throws IOException {
        byte[] bytes = JSON.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private static String orderId(HttpExchange exchange) {
        JsonNode body = JSON.readTree(exchange.getRequestBody());
        return body.required("orderId").asString();
    }

    private static String worker(HttpExchange exchange) {
        String worker = exchange.getRequestHeaders().getFirst("Worker");
        return worker == null ? "unknown" : worker;
    }

    private static boolean isInDoubt(HttpExchange exchange) {
        return Boolean.parseBoolean(exchange.getRequestHeaders().getFirst("In-Doubt"));
    }

    private static @Nullable String idempotencyKey(HttpExchange exchange) {
        return exchange.getRequestHeaders().getFirst("Idempotency-Key");
    }
}
