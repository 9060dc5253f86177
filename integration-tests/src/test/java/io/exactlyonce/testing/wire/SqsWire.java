package io.exactlyonce.testing.wire;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Serves SQS's JSON protocol to clients, with the answers of a backend. */
public final class SqsWire implements AutoCloseable {

    static final String JSON = "application/x-amz-json-1.0";
    static final String TARGET = "X-Amz-Target";
    static final String TARGET_PREFIX = "AmazonSQS.";
    static final String ERROR = "x-amzn-query-error";

    /** Escapes characters, so that halves of surrogate pairs arrive unchanged. */
    static final JsonMapper MAPPER =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private static final Pattern ACCESS_KEY = Pattern.compile("Credential=([^/]+)/");
    private static final int BACKLOG = 200;

    static {
        // Head and body of an answer are two packets. With Nagle's algorithm, the second packet would wait for the
        // acknowledgement of the first.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(SqsWire::daemon);
    private final SqsBackend backend;

    /** Serves on a free port. */
    public SqsWire(SqsBackend backend) {
        this.backend = backend;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        } catch (IOException noPort) {
            throw new UncheckedIOException(noPort);
        }
        server.setExecutor(threads);
        server.createContext("/", this::exchange);
        server.start();
    }

    /** Returns where clients find it. */
    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** Closes the connection without an answer if the answer is to be lost. */
    private void exchange(HttpExchange exchange) throws IOException {
        try (exchange) {
            String action = exchange.getRequestHeaders().getFirst(TARGET).substring(TARGET_PREFIX.length());
            ObjectNode body =
                    (ObjectNode) MAPPER.readTree(exchange.getRequestBody().readAllBytes());
            SqsAnswer answer = backend.answer(new SqsCall(action, caller(exchange), body));
            if (answer.isLost()) {
                return;
            }
            byte[] text = MAPPER.writeValueAsBytes(answer.body());
            exchange.getResponseHeaders().set("Content-Type", JSON);
            if (answer.sending() != null) {
                answer.sending().send(exchange, text);
                return;
            }
            if (!answer.error().isEmpty()) {
                exchange.getResponseHeaders().set(ERROR, answer.error());
            }
            exchange.sendResponseHeaders(answer.status(), text.length);
            exchange.getResponseBody().write(text);
        }
    }

    private static String caller(HttpExchange exchange) {
        Matcher key = ACCESS_KEY.matcher(
                Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Authorization"), ""));
        return key.find() ? key.group(1) : "";
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
