package io.exactlyonce.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Hostile callers that may decide at the endpoint. A decision changes only the claim that its caller saw. The log and
 * the database do not get a request's text, and large requests are refused before they cost the listeners anything.
 */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class HostileOperatorIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final JsonMapper JSON = new JsonMapper();

    private static final String FORGED = "mallory\nforged by \u0085\u009B31m\u202E\u2028\u0000nobody";

    private static TestApplication application;
    private static String queue;

    static class Listener {

        @ExactlyOnceListener(
                queueNames = "${test.queue}",
                scope = "payments",
                key = "#payment",
                parkFor = Unpayable.class)
        void handle(String payment) {
            if (payment.equals("unpayable")) {
                throw new Unpayable();
            }
        }
    }

    /** Quotes what a sender wrote. */
    static class Unpayable extends RuntimeException {
        Unpayable() {
            super("<script>alert(\"1\")</script>" + FORGED + "\uD83D" + "x".repeat(5_000));
        }
    }

    /** A login whose names are not checked. */
    @Configuration(proxyBeanMethods = false)
    static class Login {

        @Bean
        Filter login() {
            return (request, response, chain) -> chain.doFilter(
                    new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public Principal getUserPrincipal() {
                            return () -> FORGED;
                        }
                    },
                    response);
        }
    }

    @BeforeAll
    static void start() {
        queue = SQS.createQueue(30);
        application = TestApplication.start(
                WebApplicationType.SERVLET,
                EmbeddedDatabase.shared().createDatabase(),
                Map.of(
                        "test.queue", queue,
                        "management.endpoints.web.exposure.include", "exactlyonce",
                        "management.endpoint.exactlyonce.access", "unrestricted"),
                Listener.class,
                Login.class);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    private record Answer(int status, JsonNode body) {}

    private static Answer ask(String query, BodyPublisher body) throws Exception {
        String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/exactlyonce" + query));
        if (body != null) {
            request.header("Content-Type", "application/json").POST(body);
        }
        var answer = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
        return new Answer(answer.statusCode(), answer.body().isEmpty() ? null : JSON.readTree(answer.body()));
    }

    private static HttpResponse<String> get(String query) throws Exception {
        String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
        URI endpoint = URI.create("http://127.0.0.1:" + port + "/actuator/exactlyonce" + query);
        return HttpClient.newHttpClient().send(HttpRequest.newBuilder(endpoint).build(), BodyHandlers.ofString());
    }

    private static Answer decide(String scope, String key, UUID seen, String decision) throws Exception {
        var request =
                JSON.createObjectNode().put("scope", scope).put("key", key).put("decision", decision);
        if (seen != null) {
            request.put("claimId", seen.toString());
        }
        return ask("", BodyPublishers.ofString(request.toString()));
    }

    private static UUID park(String key) {
        ClaimStore store = application.bean(ClaimStore.class);
        ClaimId id = new ClaimId(new ClaimKey("orders", key), UUID.randomUUID());
        var request = new ClaimRequest(id, "worker", Duration.ofSeconds(30), ClaimRequest.InDoubt.PARK, null);
        assertThat(store.claim(List.of(request))).first().isInstanceOf(ClaimOutcome.Acquired.class);
        assertThat(store.resolve(List.of(new ClaimResolution.Parked(id, "card expired", true)))
                        .granted())
                .hasSize(1);
        return id.value();
    }

    private static String status(String key) {
        return application
                .database()
                .sql("SELECT status FROM exactly_once_claim WHERE scope = 'orders' AND key = ?")
                .param(key)
                .query(String.class)
                .single();
    }

    @Test
    void decisionOnAnAttemptThatItsCallerDidNotSeeChangesNothing() throws Exception {
        park("o1");
        UUID seen = UUID.fromString(
                ask("?scope=orders&key=o1", null).body().at("/claim/claimId").asString());
        assertThat(decide("orders", "o1", seen, "release").status()).isEqualTo(200);
        UUID again = park("o1");

        Answer late = decide("orders", "o1", seen, "complete");

        assertThat(late.status()).isEqualTo(409);
        assertThat(late.body().at("/claim/claimId").asString()).isEqualTo(again.toString());
        assertThat(late.body().at("/claim/status").asString()).isEqualTo("PARKED");
        assertThat(decide("orders", "o1", null, "complete").status()).isEqualTo(409);
        assertThat(status("o1")).isEqualTo("PARKED");
        assertThat(decide("orders", "o1", again, "complete").status()).isEqualTo(200);
        assertThat(status("o1")).isEqualTo("COMPLETED");
    }

    /** A reader's browser, terminal or log takes what it gets. */
    @Test
    void longExceptionOfAParkedKeyIsShownAsOneBoundedLine() throws Exception {
        SQS.send(queue, "unpayable");
        await().until(() -> application.claims("PARKED") > 0
                && ask("?scope=payments&key=unpayable", null).status() == 200);

        var answer = get("?scope=payments&key=unpayable");

        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValueSatisfying(
                        type -> assertThat(type).startsWith("application/").contains("json"));
        assertThat(answer.body()).doesNotContain("\n", "\0", "\u0085", "\u009B", "\u202E", "\u2028");
        String error = JSON.readTree(answer.body()).at("/claim/error").asString();
        assertThat(error)
                .hasSizeBetween(990, 1_000)
                .startsWith(Unpayable.class.getName() + ": <script>alert(\"1\")</script>mallory forged by ")
                .contains("nobody\uFFFDxxx");
        assertThat(ask("?scope=payments&keyHash=" + new ClaimKey("payments", "unpayable").keyHash(), null)
                        .body()
                        .at("/claim/error")
                        .asString())
                .isEqualTo(error);
    }

    @Test
    void replayedDecisionsChangeNothing() throws Exception {
        UUID seen = park("o2");
        assertThat(decide("orders", "o2", seen, "release").status()).isEqualTo(200);

        for (String decision : List.of("release", "complete", "release")) {
            assertThat(decide("orders", "o2", seen, decision).status()).isEqualTo(409);
        }

        assertThat(status("o2")).isEqualTo("RELEASED");
    }

    @Test
    void textOfARequestIsNeitherALineOfTheLogNorSql(CapturedOutput output) throws Exception {
        UUID seen = park("o3");
        for (String text : List.of(
                "orders'; UPDATE exactly_once_claim SET status = 'COMPLETED'; --",
                "orders\n2026-11-28 WARN forged by a scope",
                "\u0085\u009B31m forged by a scope\u202E",
                "%s ${jndi:ldap://x} {}")) {
            assertThat(decide(text, "o3", seen, "complete").status()).as(text).isEqualTo(404);
            assertThat(decide("orders", text, seen, "complete").status())
                    .as(text)
                    .isEqualTo(404);
        }

        assertThat(status("o3")).isEqualTo("PARKED");
        assertThat(output.getOut().lines()).noneMatch(line -> line.startsWith("forged by"));
        assertThat(output.getOut().lines()).noneMatch(line -> line.startsWith("2026-11-28 WARN forged"));
        assertThat(output).contains("asked to complete").doesNotContain("\u0085", "\u009B", "\u202E", "\u2028", "\0");
    }

    @Test
    void bodyThatIsTooLargeIsNotReadAndListenersContinue() throws Exception {
        byte[] large = ("{\"scope\":\"" + "x".repeat(10_000_000) + "\"}").getBytes();
        assertThat(statusOf(BodyPublishers.ofByteArray(large))).isEqualTo(413);
        assertThat(statusOf(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(new byte[1_000]))))
                .isEqualTo(411);
        String longest = "\\u0041".repeat(512);
        assertThat(statusOf(BodyPublishers.ofString(
                        "{\"scope\":\"%s\",\"key\":\"%s\",\"claimId\":\"%s\",\"decision\":\"release\"}"
                                .formatted(longest, longest, UUID.randomUUID()))))
                .isEqualTo(404);

        SQS.send(queue, "p1");
        // Other tests leave messages of parked keys in the queue.
        await().atMost(Duration.ofSeconds(30))
                .until(() -> application
                                .database()
                                .sql(
                                        "SELECT count(*) FROM exactly_once_claim WHERE key = 'p1' AND status = 'COMPLETED'")
                                .query(Long.class)
                                .single()
                        == 1);
    }

    private static int statusOf(BodyPublisher body) throws Exception {
        try {
            return ask("", body).status();
        } catch (java.io.IOException closed) {
            // The server may close the connection while the rest is being sent.
            return 413;
        }
    }
}
