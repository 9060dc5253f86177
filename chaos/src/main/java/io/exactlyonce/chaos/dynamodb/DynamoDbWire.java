package io.exactlyonce.chaos.dynamodb;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A proxy before DynamoDB Local that adds faults. DynamoDB Local itself throttles nothing, loses no answer and has one
 * clock.
 */
final class DynamoDbWire implements AutoCloseable {

    /** The probability with which a request, statement, key or answer is hit. */
    private static final double PART = 0.3;

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * Credentials in place of the worker's, whose access key is the worker's name. The server accepts only letters and
     * digits, and checks no signature.
     */
    private static final String CREDENTIALS =
            "AWS4-HMAC-SHA256 Credential=chaos/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";

    private final ServerSocket socket = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI target;
    private final Random random;
    private final Throttling throttling = new Throttling(this::hits);
    private final Set<ServiceFault> faults = ConcurrentHashMap.newKeySet();

    DynamoDbWire(int target, long seed) throws IOException {
        this.target = URI.create("http://127.0.0.1:" + target);
        this.random = new Random(seed);
        run(this::accept);
    }

    int port() {
        return socket.getLocalPort();
    }

    void begin(ServiceFault fault) {
        faults.add(fault);
    }

    void end(ServiceFault fault) {
        faults.remove(fault);
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket worker = socket.accept();
                if (socket.isClosed()) {
                    // While the socket is being closed, the kernel may still hand one connection to a waiting thread.
                    worker.close();
                } else {
                    run(() -> serve(worker));
                }
            } catch (IOException e) {
                // The socket is closed. The loop's condition decides.
            }
        }
    }

    private void serve(Socket worker) {
        try (worker) {
            InputStream in = new BufferedInputStream(worker.getInputStream());
            for (Optional<WireRequest> next = WireRequest.read(in); next.isPresent(); next = WireRequest.read(in)) {
                WireAnswer answer = answer(next.get());
                if (faults.contains(ServiceFault.ANSWERS_LOST) && hits()) {
                    return;
                }
                answer.dated(date(answer.date())).write(worker.getOutputStream());
            }
        } catch (IOException e) {
            // The worker is gone, or the run is over.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private WireAnswer answer(WireRequest request) throws IOException, InterruptedException {
        return faults.contains(ServiceFault.THROTTLED) ? throttling.ask(request, this::forward) : forward(request);
    }

    private WireAnswer forward(WireRequest request) throws IOException, InterruptedException {
        HttpResponse<byte[]> response = client.send(
                HttpRequest.newBuilder(target)
                        .timeout(PATIENCE)
                        .header("X-Amz-Target", request.headers().getOrDefault("x-amz-target", ""))
                        .header("Content-Type", request.contentType())
                        .header("Authorization", CREDENTIALS)
                        .POST(BodyPublishers.ofByteArray(request.body()))
                        .build(),
                BodyHandlers.ofByteArray());
        return new WireAnswer(
                response.statusCode(),
                response.headers().firstValue("Content-Type").orElse(request.contentType()),
                response.headers().firstValue("Date").orElse(""),
                response.body());
    }

    /**
     * Returns a date that is a second early or late. Front ends then differ by two seconds, which is the largest
     * difference that is promised.
     */
    private String date(String date) {
        if (date.isBlank() || faults.contains(ServiceFault.DATES_MISSING)) {
            return "";
        }
        if (faults.contains(ServiceFault.DATES_UNREADABLE)) {
            return "in a moment";
        }
        if (faults.contains(ServiceFault.DATES_DIFFER)) {
            return DateTimeFormatter.RFC_1123_DATE_TIME.format(
                    ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                            .plusSeconds(random.nextInt(3) - 1));
        }
        return date;
    }

    private boolean hits() {
        return random.nextDouble() < PART;
    }

    private static void run(Runnable task) {
        Thread thread = new Thread(task, "dynamodb-wire");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
