package io.exactlyonce.chaos.worker;

import io.exactlyonce.Claim;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.stereotype.Component;

/** A client of the partner's HTTP interface. One ledger honours idempotency keys, and the other acts at each call. */
@Component
class PaymentPartner {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String address;

    PaymentPartner(WorkerProperties properties) {
        this.address = properties.partner();
    }

    /** Acts once for each downstream key. */
    void charge(Job job, Claim claim, String call) throws InterruptedException {
        post("honours", job.key(), call, claim.downstreamKey());
    }

    /** Acts at each call. */
    void ship(Job job, Claim claim, String call) throws InterruptedException {
        post("ignores", job.key(), call, claim.downstreamKey());
    }

    /** Acts at each call, for a message without a claim. */
    void ship(Job job, String call) throws InterruptedException {
        post("ignores", job.key(), call, job.key());
    }

    /** Returns whether the partner has ever acted for a key. */
    boolean hasActed(String key) throws InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(address + "/acted?key=" + key)))
                .body()
                .equals("true");
    }

    private void post(String ledger, String key, String call, String downstreamKey) throws InterruptedException {
        String query = "/%s?key=%s&call=%s".formatted(ledger, key, call);
        HttpResponse<String> response = send(HttpRequest.newBuilder(URI.create(address + query))
                .header("Idempotency-Key", downstreamKey)
                .POST(BodyPublishers.noBody()));
        if (response.statusCode() != 200) {
            throw new IllegalStateException("The partner answered " + response.statusCode());
        }
    }

    /**
     * Sends a request without the client's own timeouts. In JDK 17 they depend on the wall clock, which this harness
     * steps. With them, a handler could report a failure while the partner acts.
     */
    private HttpResponse<String> send(HttpRequest.Builder request) throws InterruptedException {
        CompletableFuture<HttpResponse<String>> response = http.sendAsync(request.build(), BodyHandlers.ofString());
        try {
            return response.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("The partner gave no answer", e);
        } finally {
            response.cancel(true);
        }
    }
}
