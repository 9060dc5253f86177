package io.exactlyonce.chaos.worker;

import io.exactlyonce.Claim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.springframework.stereotype.Component;

/** The partner's HTTP interface: one ledger honours idempotency keys, the other acts whenever it is asked. */
@Component
class PaymentPartner {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final String address;

    PaymentPartner(WorkerProperties properties) {
        this.address = properties.partner();
    }

    /** Acts once for each downstream key. */
    void charge(Job job, Claim claim, String call) throws InterruptedException {
        post("honours", job.key(), call, claim.downstreamKey());
    }

    /** Acts whenever it is asked. */
    void ship(Job job, Claim claim, String call) throws InterruptedException {
        post("ignores", job.key(), call, claim.downstreamKey());
    }

    /** Tells whether the partner has ever acted for a key. */
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

    private HttpResponse<String> send(HttpRequest.Builder request) throws InterruptedException {
        try {
            return http.send(request.timeout(PATIENCE).build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
