package io.exactlyonce.sample.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** The answers to a client that repeats a request, over HTTP and on a real database. */
class PaymentsIT {

    private static final String BODY = "{\"orderId\":\"o1\",\"cents\":1999}";

    /** A provider that counts its charges, and waits for the test before it answers. */
    static class CountingProvider implements PaymentProvider {
        private final AtomicInteger charges = new AtomicInteger();
        private volatile CountDownLatch gate = new CountDownLatch(0);

        @Override
        public String charge(PaymentRequest request, String idempotencyKey) {
            int charge = charges.incrementAndGet();
            try {
                gate.await();
            } catch (InterruptedException stopped) {
                throw new IllegalStateException(stopped);
            }
            return "charge-" + charge;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Provider {
        @Bean
        @Primary
        CountingProvider countingProvider() {
            return new CountingProvider();
        }
    }

    private static LocalPostgres database;
    private static ConfigurableApplicationContext application;

    private final CountingProvider provider = application.getBean(CountingProvider.class);
    private final HttpClient client = HttpClient.newHttpClient();
    private final String key = UUID.randomUUID().toString();
    private final int before = provider.charges.get();

    @BeforeAll
    static void start() {
        database = LocalPostgres.start();
        SpringApplication payments = PaymentsApplication.application();
        payments.addPrimarySources(List.of(Provider.class));
        application = payments.run(
                "--spring.datasource.url=" + database.getJdbcUrl(),
                "--spring.datasource.username=" + database.getUsername(),
                "--spring.datasource.password=" + database.getPassword(),
                "--server.port=0");
    }

    @AfterAll
    static void stop() {
        application.close();
        database.close();
    }

    @Test
    void secondRequestGetsTheStoredResponse() throws Exception {
        HttpResponse<String> first = post(key, BODY);
        HttpResponse<String> second = post(key, BODY);

        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.body()).contains("\"chargeId\":\"charge-" + (before + 1), "\"orderId\":\"o1\"", "1999");
        assertThat(second.statusCode()).isEqualTo(200);
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(provider.charges).hasValue(before + 1);
    }

    @Test
    void concurrentRequestGetsTheTimeOfItsRepetition() throws Exception {
        provider.gate = new CountDownLatch(1);
        CompletableFuture<HttpResponse<String>> first = client.sendAsync(request(key, BODY), BodyHandlers.ofString());
        await().until(() -> provider.charges.get() == before + 1);

        HttpResponse<String> second = post(key, BODY);
        provider.gate.countDown();

        assertThat(second.statusCode()).isEqualTo(409);
        assertThat(second.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isBetween(1L, 30L);
        assertThat(first.get().statusCode()).isEqualTo(200);
        assertThat(post(key, BODY).body()).isEqualTo(first.get().body());
        assertThat(provider.charges).hasValue(before + 1);
    }

    @Test
    void anotherBodyUnderTheSameKeyIsRefused() throws Exception {
        post(key, BODY);

        assertThat(post(key, "{\"orderId\":\"o2\",\"cents\":5}").statusCode()).isEqualTo(422);
        assertThat(provider.charges).hasValue(before + 1);
    }

    @Test
    void requestWithoutAUsableKeyOrBodyIsRefused() throws Exception {
        assertThat(post(null, BODY).statusCode()).isEqualTo(400);
        assertThat(post(" ", BODY).statusCode()).isEqualTo(400);
        assertThat(post(key, "no payment").statusCode()).isEqualTo(400);
        assertThat(provider.charges).hasValue(before);
    }

    private HttpResponse<String> post(String idempotencyKey, String body) throws IOException, InterruptedException {
        return client.send(request(idempotencyKey, body), BodyHandlers.ofString());
    }

    private static HttpRequest request(String idempotencyKey, String body) {
        String port = application.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/payments"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
        if (idempotencyKey != null) {
            request.header("Idempotency-Key", idempotencyKey);
        }
        return request.build();
    }
}
