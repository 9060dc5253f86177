package io.exactlyonce.chaos.cluster;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A proxy before the SQS server that shows each request and its reply to an observer. The access key that signs a
 * request names the worker.
 */
public final class SqsWire implements AutoCloseable {

    private static final Set<String> PASSED_ON = Set.of("x-amz-target", "content-type", "authorization", "x-amz-date");
    private static final Pattern ACCESS_KEY = Pattern.compile("Credential=([^/]+)/");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(SqsWire::daemon);
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final int target;
    private final SqsTraffic traffic;

    /** Starts the proxy for the server on a port. */
    public SqsWire(int target, SqsTraffic traffic) throws IOException {
        this.target = target;
        this.traffic = traffic;
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        server.setExecutor(threads);
        server.createContext("/", this::exchange);
        server.start();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    private void exchange(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String action = header(exchange, "X-Amz-Target").replace("AmazonSQS.", "");
            SqsTraffic.Request request = new SqsTraffic.Request(worker(exchange), action, body);
            traffic.requested(request);
            HttpResponse<String> response = client.send(forwarded(exchange, body), BodyHandlers.ofString());
            byte[] reply = traffic.replied(request, response.statusCode(), response.body())
                    .getBytes(StandardCharsets.UTF_8);
            response.headers()
                    .firstValue("Content-Type")
                    .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
            exchange.sendResponseHeaders(response.statusCode(), reply.length == 0 ? -1 : reply.length);
            exchange.getResponseBody().write(reply);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private HttpRequest forwarded(HttpExchange exchange, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:%d%s".formatted(target, exchange.getRequestURI())))
                .timeout(PATIENCE)
                .method(exchange.getRequestMethod(), BodyPublishers.ofString(body));
        PASSED_ON.forEach(name -> {
            String value = header(exchange, name);
            if (!value.isEmpty()) {
                request.header(name, value);
            }
        });
        return request.build();
    }

    private static String worker(HttpExchange exchange) {
        Matcher key = ACCESS_KEY.matcher(header(exchange, "Authorization"));
        return key.find() ? key.group(1) : "";
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "sqs-wire");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
