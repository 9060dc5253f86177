package io.exactlyonce.sample.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProviderStubTests {

    private static final Duration DELAY = Duration.ofMillis(300);

    private final HttpClient client = HttpClient.newHttpClient();
    private final List<String> observed = new CopyOnWriteArrayList<>();
    private ProviderStub provider;

    @BeforeEach
    void start() throws IOException {
        provider = ProviderStub.start(0, orderId -> DELAY, (orderId, worker) -> observed.add(worker + " " + orderId));
    }

    @AfterEach
    void stop() {
        provider.close();
    }

    @Test
    void chargeIsAnsweredWithItsId() throws Exception {
        HttpResponse<String> response = client.send(post("/charges", "order-1").build(), BodyHandlers.ofString());

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("{\"chargeId\":\"ch_1\"}");
        assertThat(provider.statement().charges()).containsEntry("order-1", 1L);
    }

    @Test
    void idempotencyKeyIsReadFromItsHeader() throws Exception {
        HttpRequest request =
                post("/charges", "order-1").header("Idempotency-Key", "k").build();
        HttpResponse<String> first = client.send(request, BodyHandlers.ofString());
        HttpResponse<String> second = client.send(request, BodyHandlers.ofString());

        assertThat(second.body()).isEqualTo(first.body());
        assertThat(provider.statement().total()).isEqualTo(1);
        assertThat(provider.statement().honouredTotal()).isEqualTo(1);
    }

    @Test
    void idempotencyKeyOfAnotherOrderIsRefused() throws Exception {
        client.send(post("/charges", "order-1").header("Idempotency-Key", "k").build(), BodyHandlers.ofString());
        HttpResponse<String> response = client.send(
                post("/charges", "order-2").header("Idempotency-Key", "k").build(), BodyHandlers.ofString());

        assertThat(response.statusCode()).isEqualTo(422);
    }

    @Test
    void honouredKeyIsExplainedByTheKillOfTheWorkerThatCharged() throws Exception {
        client.send(post("/charges", "order-1").header("Idempotency-Key", "k").build(), BodyHandlers.ofString());
        provider.workerIsKilled("worker-1");
        client.send(
                post("/charges", "order-1")
                        .setHeader("Worker", "worker-2")
                        .header("Idempotency-Key", "k")
                        .header("In-Doubt", "true")
                        .build(),
                BodyHandlers.ofString());

        assertThat(provider.statement().explained()).containsExactly("order-1");
    }

    @Test
    void confirmationIsObservedAtOnceAndAnsweredAfterItsDelay() throws Exception {
        long start = System.nanoTime();
        HttpResponse<String> response =
                client.send(post("/confirmations", "order-1").build(), BodyHandlers.ofString());

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(DELAY);
        assertThat(observed).containsExactly("worker-1 order-1");
        assertThat(provider.isIdle()).isTrue();
    }

    private HttpRequest.Builder post(String path, String orderId) {
        return HttpRequest.newBuilder(provider.url().resolve(path))
                .header("Worker", "worker-1")
                .POST(BodyPublishers.ofString("{\"orderId\":\"%s\",\"amountCents\":1999}".formatted(orderId)));
    }
}
