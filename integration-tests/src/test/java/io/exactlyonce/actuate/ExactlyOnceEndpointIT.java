package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.testing.DeviatesOn;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsProduct;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.ProviderManager;
import org.springframework.security.authentication.dao.DaoAuthenticationProvider;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.DefaultSecurityFilterChain;
import org.springframework.security.web.FilterChainProxy;
import org.springframework.security.web.authentication.www.BasicAuthenticationFilter;
import org.springframework.security.web.servletapi.SecurityContextHolderAwareRequestFilter;
import org.springframework.security.web.util.matcher.AnyRequestMatcher;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Requests of operators to {@code /actuator/exactlyonce} of a running application. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class ExactlyOnceEndpointIT {

    private static final SqsServer SQS = SqsServer.shared();

    private static final JsonMapper JSON = new JsonMapper();

    private static final Pattern ELASTICMQS_RECEIPT_HANDLE = Pattern.compile("[0-9a-f-]{36}#[0-9a-f-]{36}");

    private static final AtomicBoolean IS_HOPELESS = new AtomicBoolean();

    static class Listener {

        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                scope = "orders",
                key = "#order",
                parkFor = IllegalArgumentException.class)
        String handle(String order) {
            if (IS_HOPELESS.get()) {
                throw new IllegalArgumentException("no such article");
            }
            return "receipt-of-a-card";
        }
    }

    private static TestApplication start(String queue, String access) {
        return start(
                queue, access, "exactlyonce,health", EmbeddedDatabase.shared().createDatabase());
    }

    private static TestApplication start(String queue, String access, Class<?> configuration) {
        return start(queue, access, "exactlyonce", EmbeddedDatabase.shared().createDatabase(), configuration);
    }

    private static TestApplication start(
            String queue, String access, String endpoints, String databaseUrl, Class<?>... more) {
        return start(queue, access, endpoints, databaseUrl, Map.of(), more);
    }

    private static TestApplication start(
            String queue,
            String access,
            String endpoints,
            String databaseUrl,
            Map<String, String> others,
            Class<?>... more) {
        Map<String, String> properties = new HashMap<>(others);
        properties.putAll(Map.of(
                "test.queue", queue,
                "management.endpoints.web.exposure.include", endpoints,
                "management.endpoint.exactlyonce.access", access,
                "management.endpoint.health.show-details", "always",
                "management.endpoint.health.group.claims.include", "exactlyOnce"));
        return TestApplication.start(
                WebApplicationType.SERVLET,
                databaseUrl,
                properties,
                Stream.concat(Stream.of(Listener.class), Stream.of(more))
                        .distinct()
                        .toArray(Class<?>[]::new));
    }

    private static String ask(TestApplication application, String path, String... body) throws Exception {
        return askAs("", application, path, body);
    }

    private static String askAs(String user, TestApplication application, String path, String... body)
            throws Exception {
        String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator" + path));
        if (!user.isEmpty()) {
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString((user + ":p").getBytes(StandardCharsets.UTF_8)));
        }
        if (body.length > 0) {
            request.header("Content-Type", "application/json").POST(BodyPublishers.ofString(body[0]));
        }
        var answer = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
        return answer.statusCode() + " " + answer.body();
    }

    private static String decision(String scope, String key, UUID seen, String decision) {
        return JSON.createObjectNode()
                .put("scope", scope)
                .put("key", key)
                .put("claimId", seen.toString())
                .put("decision", decision)
                .toString();
    }

    /** Spring Security's firewall. It rejects paths with many of the characters that a key may contain. */
    @Configuration(proxyBeanMethods = false)
    static class Firewall {
        @Bean
        FilterRegistrationBean<FilterChainProxy> firewall() {
            return new FilterRegistrationBean<>(new FilterChainProxy(List.of()));
        }
    }

    /** A scope as the pages recommend it, and keys that cannot be a path of a URL. */
    @ParameterizedTest
    @ValueSource(classes = {Listener.class, Firewall.class})
    void eachScopeAndKeyIsShownAndDecidedByItselfAndByItsHash(Class<?> configuration) throws Exception {
        String scope = "POST /payments";
        List<String> keys = List.of(
                "2026/11/27/in.csv",
                "a\\b",
                "%",
                "%2F",
                ";",
                "a;b=c",
                "..",
                "../..",
                ".",
                " A 1 ",
                "a+b",
                "a,b",
                "?a&b=c#d",
                "\"{}",
                "a\nb",
                "\u007F\u0085\u202E",
                "\u00fcberweisung \u2713 \uD835\uDD18",
                "\uD835\uDD18".repeat(256),
                "x".repeat(512));
        try (TestApplication application = start(SQS.createQueue(30), "unrestricted", configuration)) {
            application.bean(ClaimBackend.class).requireReady();
            for (String key : keys) {
                ClaimId seen = park(application.bean(ClaimStore.class), new ClaimKey(scope, key));
                ClaimKey parked = seen.key();
                String path = "/exactlyonce?scope=" + encoded(scope);
                for (String named : List.of("&key=" + encoded(key), "&keyHash=" + parked.keyHash())) {
                    assertThat(ask(application, path + named))
                            .as(named)
                            .startsWith("200 {\"claim\":{\"status\":\"PARKED\"");
                }
                assertThat(ask(application, "/exactlyonce", decision(scope, key, seen.value(), "release")))
                        .as(key)
                        .isEqualTo("200 {\"decided\":true}");
                assertThat(ask(application, "/exactlyonce", decision(scope, key, seen.value(), "release")))
                        .as(key)
                        .startsWith(
                                "409 {\"decided\":false,\"reason\":\"the key does not have this claim parked; it is RELEASED\",\"claim\":{");
                UUID again = park(application.bean(ClaimStore.class), parked).value();
                String byHash = "{\"scope\":\"%s\",\"keyHash\":\"%s\",\"claimId\":\"%s\",\"decision\":\"complete\"}";
                assertThat(ask(application, "/exactlyonce", byHash.formatted(scope, parked.keyHash(), again)))
                        .as(key)
                        .isEqualTo("200 {\"decided\":true}");
            }
            assertThat(application.claims("COMPLETED")).isEqualTo(keys.size());
            assertThat(ask(application, "/exactlyonce", decision(scope, "a\0", UUID.randomUUID(), "release")))
                    .startsWith("400 {\"reason\":\"")
                    .contains("NUL");
            assertThat(ask(application, "/exactlyonce?scope=orders&key=a%00")).startsWith("400 {\"reason\":\"");
        }
    }

    private static ClaimId park(ClaimStore store, ClaimKey key) {
        ClaimRequest request = new ClaimRequest(
                new ClaimId(key, UUID.randomUUID()), "worker", Duration.ofSeconds(30), ClaimRequest.InDoubt.PARK, null);
        assertThat(store.claim(List.of(request))).first().isInstanceOf(ClaimOutcome.Acquired.class);
        assertThat(store.resolve(List.of(new ClaimResolution.Parked(request.id(), "card expired", true)))
                        .granted())
                .hasSize(1);
        return request.id();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Test
    void listenersClaimsAndHealthAreShownAndNothingCanBeChanged() throws Exception {
        String queue = SQS.createQueue(30, SQS.createQueue(30), 5);
        try (TestApplication application = start(queue, "read-only")) {
            SQS.send(queue, "o1");
            await().until(() -> application.claims("COMPLETED") == 1);

            await().untilAsserted(() -> assertThat(ask(application, "/exactlyonce"))
                    .startsWith("200 {\"sinceStart\":{\"duplicatesSuppressed\":0,\"overlapsThatWaited\":0,"
                            + "\"takeovers\":0,\"mismatches\":0}")
                    .contains("\"listener\":\"orders\"")
                    .contains("\"queue\":\"" + queue + "\"")
                    .contains("\"visibilityTimeoutSeconds\":30")
                    .contains("\"maxReceiveCount\":5")
                    .contains("\"retryBudgetSeconds\":7.5")
                    .contains("\"recommendedSeconds\":30.0,\"rule\":\"as it is, or p95\"")
                    .contains("\"audit\":[")
                    .doesNotContain(":null", ":[]", ":{}", ":\"\""));
            String hash = "keyHash=" + new ClaimKey("orders", "o1").keyHash();
            for (String named : List.of("key=o1", hash)) {
                assertThat(ask(application, "/exactlyonce?scope=orders&" + named))
                        .as(named)
                        .startsWith("200")
                        .contains("\"status\":\"COMPLETED\"")
                        .contains("\"attempt\":1")
                        .doesNotContain("receipt-of-a-card", ":null");
            }
            for (String unknown : List.of("key=o2", "keyHash=" + new ClaimKey("other", "o1").keyHash())) {
                assertThat(ask(application, "/exactlyonce?scope=orders&" + unknown))
                        .as(unknown)
                        .startsWith("404 {\"reason\":");
            }
            assertThat(ask(application, "/exactlyonce?scope=orders")).startsWith("400 {\"reason\":");
            assertThat(ask(application, "/exactlyonce?scope=orders&key=o1&key=o2"))
                    .isEqualTo("400 {\"reason\":\"key must be one text\"}");
            assertThat(ask(application, "/health/claims"))
                    .startsWith("200")
                    .contains("\"status\":\"UP\"")
                    .contains("\"pausedListeners\":[]")
                    .contains("\"primary\":");
            assertThat(ask(application, "/exactlyonce", decision("orders", "o1", UUID.randomUUID(), "release")))
                    .startsWith("405");
            application.database().sql("DROP TABLE exactly_once_claim").update();
            assertThat(ask(application, "/health/claims")).startsWith("503").contains("exactly_once_claim");
        }
    }

    /** An operator releases the key when the cause is fixed. The key may run again, and its message is redelivered. */
    @Test
    @DeviatesOn(server = SqsProduct.MOTO, reason = "it has no StartMessageMoveTask")
    void parkedKeyIsReleasedAndItsMessageRedriven(CapturedOutput output) throws Exception {
        String deadLetters = SQS.createQueue(30);
        String queue = SQS.createQueue(30, deadLetters, 1);
        try (TestApplication application = start(queue, "unrestricted")) {
            IS_HOPELESS.set(true);
            SQS.send(queue, "o1");
            await().until(() -> application.claims("PARKED") == 1 && SQS.size(deadLetters) == 1);

            IS_HOPELESS.set(false);
            UUID seen = application
                    .database()
                    .sql("SELECT claim_id FROM exactly_once_claim")
                    .query(UUID.class)
                    .single();
            assertThat(ask(application, "/exactlyonce", decision("orders", "o1", seen, "release")))
                    .startsWith(
                            "200 {\"decided\":true,\"message\":{\"place\":\"DEAD_LETTER_QUEUE\",\"queue\":\"" + queue);
            await().untilAsserted(
                            () -> assertThat(ask(application, "/exactlyonce")).contains("max-receive-count"));
            String redrive = "{\"listener\":\"orders\",\"action\":\"redrive\"}";
            assertThat(ask(application, "/exactlyonce", redrive))
                    .startsWith("200")
                    .contains("\"redriven\":[\"arn:aws:sqs:")
                    .contains(deadLetters);

            await().until(() ->
                    application.claims("COMPLETED") == 1 && SQS.size(deadLetters) == 0 && SQS.size(queue) == 0);
            assertThat(output)
                    .contains("A caller without a name asked to redrive the dead letters of listener 'orders'");
        } finally {
            IS_HOPELESS.set(false);
        }
    }

    /**
     * After an incident, many keys are decided at once. Some of their messages are redriven without SQS's task for
     * whole queues.
     */
    @Test
    void parkedKeysAreDecidedAtOnceAndTheirDeadLettersRedrivenByHash(CapturedOutput output) throws Exception {
        String deadLetters = SQS.createQueue(30);
        String queue = SQS.createQueue(30, deadLetters, 2);
        try (TestApplication application = start(queue, "unrestricted")) {
            IS_HOPELESS.set(true);
            List<String> orders = List.of("o1", "o2", "o3");
            orders.forEach(order -> SQS.send(queue, order));
            await().until(() -> application.claims("PARKED") == 3 && SQS.size(deadLetters) == 3);
            String parked = "/exactlyonce/parked";

            JsonNode list = json(ask(application, parked + "?scope=orders&limit=2"));
            assertThat(list.path("parked").size()).isEqualTo(2);
            assertThat(list.path("parked").get(0).path("errorClass").asString())
                    .isEqualTo("java.lang.IllegalArgumentException");
            assertThat(json(ask(
                                    application,
                                    parked + "?scope=orders&limit=2&after="
                                            + list.path("next").asString()))
                            .path("parked")
                            .size())
                    .isEqualTo(1);
            JsonNode letters = json(ask(application, "/exactlyonce/dead-letters?listener=orders"))
                    .path("queues")
                    .get(0);
            assertThat(letters.path("queue").asString()).isEqualTo(deadLetters);
            assertThat(letters.path("messages").size()).isEqualTo(3);
            letters.path("messages").forEach(message -> {
                assertThat(message.path("key").asString()).isEqualTo("******");
                assertThat(message.path("isRedrivable").asBoolean()).isTrue();
                assertThat(message.path("claim").path("status").asString()).isEqualTo("PARKED");
                assertThat(message.path("claim").path("error").asString()).contains("no such article");
            });
            assertThat(SQS.visible(deadLetters)).as("nothing was taken").isEqualTo(3);

            JsonNode dryRun =
                    json(ask(application, parked, "{\"decision\":\"release\",\"scope\":\"orders\",\"dryRun\":true}"));
            assertThat(dryRun.path("count").asInt()).isEqualTo(3);
            assertThat(application.claims("PARKED")).isEqualTo(3);
            JsonNode decisions = json(ask(
                    application,
                    parked,
                    "{\"decision\":\"release\",\"scope\":\"orders\",\"reason\":\"article is back\",\"parkedUntil\":\"%s\"}"
                            .formatted(dryRun.path("parkedUntil").asString())));
            assertThat(decisions.path("decided").size()).isEqualTo(3);
            assertThat(decisions.path("notDecided").isEmpty()).isTrue();
            decisions
                    .path("decided")
                    .forEach(decided -> assertThat(
                                    decided.path("message").path("place").asString())
                            .isEqualTo("DEAD_LETTER_QUEUE"));
            IS_HOPELESS.set(false);
            String redrive = "{\"listener\":\"orders\",\"reason\":\"article is back\",\"keyHashes\":\"%s,%s,%s\"}"
                    .formatted(
                            new ClaimKey("orders", "o1").keyHash(),
                            new ClaimKey("orders", "o3").keyHash(),
                            new ClaimKey("orders", "o4").keyHash());
            JsonNode redriven = json(ask(application, "/exactlyonce/dead-letters", redrive));
            assertThat(redriven.path("redriven").size()).isEqualTo(2);
            assertThat(redriven.path("notRedriven").size()).isEqualTo(1);

            await().until(() ->
                    application.claims("COMPLETED") == 2 && SQS.visible(deadLetters) == 1 && SQS.size(queue) == 0);
            assertThat(application.claims("RELEASED")).isEqualTo(1);
            assertThat(output)
                    .contains(
                            "asked to release at most 1000 claims, scope orders, error null",
                            "because \"article is back\": 3 decided, 0 not parked any more",
                            "asked to redrive 3 chosen dead letters of listener 'orders', because \"article is back\": 2"
                                    + " redriven, 1 not");
            // Each parked message is received once more.
            assertThat(output.getOut()
                            .lines()
                            .filter(line -> line.contains(" WARN ") && line.contains("until an operator")))
                    .hasSize(3);
        } finally {
            IS_HOPELESS.set(false);
        }
    }

    private static JsonNode json(String answer) {
        assertThat(answer).startsWith("200 ");
        return JSON.readTree(answer.substring("200 ".length()));
    }

    /** Sets Spring Security up in Boot's way, with passwords for an operator and a viewer. */
    @Configuration(proxyBeanMethods = false)
    static class Secured {
        @Bean
        FilterRegistrationBean<FilterChainProxy> security() throws Exception {
            InMemoryUserDetailsManager users = new InMemoryUserDetailsManager(
                    User.withUsername("operator")
                            .password("{noop}p")
                            .roles("OPERATOR")
                            .build(),
                    User.withUsername("viewer")
                            .password("{noop}p")
                            .roles("VIEWER")
                            .build());
            SecurityContextHolderAwareRequestFilter roles = new SecurityContextHolderAwareRequestFilter();
            roles.afterPropertiesSet();
            return new FilterRegistrationBean<>(new FilterChainProxy(new DefaultSecurityFilterChain(
                    AnyRequestMatcher.INSTANCE,
                    new BasicAuthenticationFilter(new ProviderManager(new DaoAuthenticationProvider(users))),
                    roles)));
        }
    }

    @Test
    void keysAreShownToTheRolesOfSpringSecurityThatThePropertyNames(CapturedOutput output) throws Exception {
        Map<String, String> properties = Map.of(
                "management.endpoint.exactlyonce.show-values", "when_authorized",
                "management.endpoint.exactlyonce.roles", "OPERATOR");
        try (TestApplication application = start(
                SQS.createQueue(30),
                "unrestricted",
                "exactlyonce",
                EmbeddedDatabase.shared().createDatabase(),
                properties,
                Secured.class)) {
            application.bean(ClaimBackend.class).requireReady();
            ClaimId seen = park(application.bean(ClaimStore.class), new ClaimKey("orders", "card-4711"));

            assertThat(askAs("operator", application, "/exactlyonce/parked"))
                    .startsWith("200")
                    .contains("\"key\":\"card-4711\"");
            for (String other : List.of("viewer", "")) {
                assertThat(askAs(other, application, "/exactlyonce/parked"))
                        .startsWith("200")
                        .contains("\"key\":\"******\"")
                        .doesNotContain("card-4711");
            }
            assertThat(askAs(
                            "operator",
                            application,
                            "/exactlyonce/parked",
                            "{\"decision\":\"complete\",\"reason\":\"charged\",\"claims\":\"%s\"}"
                                    .formatted(seen.value())))
                    .startsWith("200")
                    .contains("\"notDecided\":[]");
            assertThat(output)
                    .contains("'operator' asked to complete 1 named claims, because \"charged\": 1 decided")
                    .doesNotContain("card-4711");
        }
    }

    /**
     * Texts that must not be shown: a key, its entity, a result, a receipt handle, and the password of the claim
     * database.
     */
    @Test
    void noEndpointAndNoLogShowsWhatIsNoBusinessOfTheirs(CapturedOutput output) throws Exception {
        String queue = SQS.createQueue(30, SQS.createQueue(30), 2);
        String password = EmbeddedDatabase.shared().password();
        String database = EmbeddedDatabase.shared().createDatabase() + "?password=" + password;
        try (TestApplication application = start(queue, "unrestricted", "*", database)) {
            SQS.send(queue, "card-4711");
            await().until(() -> application.claims("COMPLETED") == 1 && SQS.size(queue) == 0);
            IS_HOPELESS.set(true);
            SQS.send(queue, "card-4712");
            await().until(() -> application.claims("PARKED") == 1 && SQS.size(queue) == 0);
            SQS.send(queue, "card-4711");
            await().until(() -> application.count("exactly.once.claims", "outcome", "already_completed") == 1);
            StringBuilder shown = new StringBuilder(output);

            for (String path : List.of(
                    "/exactlyonce",
                    "/exactlyonce/parked",
                    "/exactlyonce/dead-letters?listener=orders",
                    "/exactlyonceconsole",
                    "/health",
                    "/health/claims",
                    "/prometheus",
                    "/env",
                    "/configprops")) {
                String answer = ask(application, path);
                assertThat(answer).as(path).startsWith("200");
                shown.append(answer);
            }
            application.database().sql("DROP TABLE exactly_once_claim").update();
            shown.append(ask(application, "/health/claims"));

            assertThat(shown)
                    .contains(
                            "exactly_once_claims_total",
                            "\"key\":\"******\"",
                            "{\"sinceStart\":{\"duplicatesSuppressed\":1,",
                            "suppressed its first duplicate: " + new ClaimKey("orders", "card-4711"),
                            "failed with java.lang.IllegalArgumentException (attempt 1 at "
                                    + new ClaimKey("orders", "card-4712"));
            assertThat(shown)
                    .doesNotContain("card-4711", "card-4712", "receipt-of-a-card", password)
                    .doesNotContainPattern(ELASTICMQS_RECEIPT_HANDLE);
        } finally {
            IS_HOPELESS.set(false);
        }
    }

    /** The requests that a browser sends for another site's page without a preflight. */
    @Test
    void otherSitesPagesCanDecideNothing() throws Exception {
        try (TestApplication application = start(SQS.createQueue(30), "unrestricted")) {
            for (String type : List.of("", "text/plain", "application/x-www-form-urlencoded")) {
                assertThat(statusOf(type, application, "/exactlyonce?scope=orders&key=o1&decision=release"))
                        .as(type)
                        .isEqualTo(415);
                assertThat(statusOf(type, application, "/exactlyonce?listener=orders&action=redrive"))
                        .as(type)
                        .isEqualTo(415);
                assertThat(statusOf(type, application, "/exactlyonce/parked?decision=release&scope=orders&reason=x"))
                        .as(type)
                        .isEqualTo(415);
                assertThat(statusOf(type, application, "/exactlyonce/dead-letters?listener=orders&messages=1&reason=x"))
                        .as(type)
                        .isEqualTo(415);
            }
        }
    }

    private static int statusOf(String type, TestApplication application, String path) throws Exception {
        String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/actuator" + path))
                .POST(BodyPublishers.ofString("{\"decision\":\"release\",\"action\":\"redrive\"}"));
        if (!type.isEmpty()) {
            request.header("Content-Type", type);
        }
        return HttpClient.newHttpClient()
                .send(request.build(), BodyHandlers.discarding())
                .statusCode();
    }
}
