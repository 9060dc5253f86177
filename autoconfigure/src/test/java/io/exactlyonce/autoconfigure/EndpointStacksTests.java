package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution.Completed;
import io.exactlyonce.claim.ParkedClaims;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The parts of {@code /actuator/exactlyonce} on Spring Boot's web stacks, in an application with a store and without listeners. */
class EndpointStacksTests {

    private static final JsonMapper JSON = new JsonMapper();
    private static final Instant NOON = Instant.parse("2026-11-28T12:00:00.000001Z");

    /** Two parked keys, until an operator decides on them. */
    static class Store implements ParkedClaims {

        private final List<ParkedClaim> parked = new CopyOnWriteArrayList<>(List.of(claim(1), claim(2)));

        private static ParkedClaim claim(int number) {
            return ParkedClaim.of(
                    "orders",
                    "card-" + number,
                    new UUID(0, number),
                    1,
                    true,
                    "java.io.IOException: reset",
                    NOON.plusSeconds(number));
        }

        @Override
        public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
            return parked.stream()
                    .filter(claim -> after == null || claim.parkedAt().isAfter(after.parkedAt()))
                    .limit(limit)
                    .toList();
        }

        @Override
        public Optional<ParkedClaim> find(ClaimKey key) {
            return parked.stream()
                    .filter(claim -> claim.key().equals(key.key()))
                    .findFirst();
        }

        @Override
        public Set<ClaimId> releaseAll(Collection<ClaimId> claims) {
            return claims.stream()
                    .filter(claim -> parked.removeIf(each -> each.claimId().equals(claim.value())))
                    .collect(Collectors.toSet());
        }

        @Override
        public Set<ClaimId> completeAll(Collection<Completed> completions) {
            return releaseAll(completions.stream().map(Completed::claim).toList());
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfigurationWithoutSecurity
    static class Application {

        @Bean
        Store parkedClaims() {
            return new Store();
        }

        /** Replaces a security framework. A header names the caller, and the upper-case name is the caller's role. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
        static class Callers {
            @Bean
            Filter callers() {
                return (request, response, chain) -> {
                    String caller = ((HttpServletRequest) request).getHeader("Caller");
                    chain.doFilter(
                            caller == null ? request : new Named((HttpServletRequest) request, caller), response);
                };
            }
        }
    }

    private static final class Named extends HttpServletRequestWrapper {
        private final String caller;

        Named(HttpServletRequest request, String caller) {
            super(request);
            this.caller = caller;
        }

        @Override
        public Principal getUserPrincipal() {
            return () -> caller;
        }

        @Override
        public boolean isUserInRole(String role) {
            return role.equalsIgnoreCase(caller);
        }
    }

    private static ConfigurableApplicationContext start(WebApplicationType type, String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .web(type)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "spring.jmx.enabled=false",
                        "spring.cloud.aws.region.static=eu-central-1",
                        "management.endpoints.web.exposure.include=exactlyonce",
                        // Two reactive servers are on the class path, and a separate management port needs one of them.
                        "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration")
                .properties(properties)
                .run();
    }

    private static URI uri(ConfigurableApplicationContext application, String port, String path) {
        return URI.create("http://127.0.0.1:"
                + application.getEnvironment().getRequiredProperty("local." + port + ".port") + path);
    }

    private static HttpResponse<String> send(HttpRequest.Builder request, String... caller) throws Exception {
        if (caller.length > 0) {
            request.header("Caller", caller[0]);
        }
        return WebRequests.send(request);
    }

    private static HttpResponse<String> post(URI uri, String body) throws Exception {
        return send(HttpRequest.newBuilder(uri)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body)));
    }

    private static JsonNode json(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
    void partsOfTheEndpointListAndDecideOnAManagementPort(WebApplicationType stack) throws Exception {
        try (var application = start(
                stack,
                "management.server.port=0",
                "management.endpoints.web.base-path=/manage",
                "management.endpoint.exactlyonce.access=unrestricted")) {
            URI parked = uri(application, "management", "/manage/exactlyonce/parked");

            JsonNode first = json(send(HttpRequest.newBuilder(URI.create(parked + "?limit=1&scope=orders"))));
            assertThat(first.path("parked").size()).isEqualTo(1);
            JsonNode claim = first.path("parked").get(0);
            assertThat(claim.path("key").asString()).isEqualTo("******");
            assertThat(claim.path("errorClass").asString()).isEqualTo("java.io.IOException");
            assertThat(claim.path("parkedAt").asString()).isEqualTo("2026-11-28T12:00:01.000001Z");
            assertThat(claim.path("isInDoubt").asBoolean()).isTrue();
            JsonNode second = json(send(HttpRequest.newBuilder(URI.create(
                    parked + "?limit=1&scope=orders&after=" + first.path("next").asString()))));
            assertThat(second.path("parked").get(0).path("claimId").asString()).isEqualTo(new UUID(0, 2).toString());
            assertThat(second.has("next")).isFalse();

            JsonNode dryRun =
                    json(post(parked, "{\"decision\":\"release\",\"error\":\"java.io.IOException\",\"dryRun\":true}"));
            assertThat(dryRun.path("count").asInt()).isEqualTo(2);
            assertThat(dryRun.path("claims").size()).isEqualTo(2);
            String until = dryRun.path("parkedUntil").asString();
            assertThat(until).isEqualTo("2026-11-28T12:00:02.000001Z");
            String decision =
                    "{\"decision\":\"release\",\"reason\":\"outage\",\"error\":\"java.io.IOException\",\"parkedUntil\":\"%s\",\"limit\":1}"
                            .formatted(until);
            JsonNode decided = json(post(parked, decision));
            assertThat(decided.path("decided").size()).isEqualTo(1);
            assertThat(decided.path("isMore").asBoolean()).isTrue();
            JsonNode named = json(post(
                    parked,
                    "{\"decision\":\"complete\",\"reason\":\"outage\",\"claims\":\"%s,%s\"}"
                            .formatted(new UUID(0, 1), new UUID(0, 2))));
            assertThat(named.path("decided").get(0).path("claimId").asString()).isEqualTo(new UUID(0, 2).toString());
            assertThat(named.path("notDecided").get(0).path("claimId").asString())
                    .isEqualTo(new UUID(0, 1).toString());
            assertThat(json(send(HttpRequest.newBuilder(parked))).path("parked").isEmpty())
                    .isTrue();

            assertThat(post(parked, "{\"decision\":\"release\"}").statusCode()).isEqualTo(400);
            URI letters = uri(application, "management", "/manage/exactlyonce/dead-letters");
            assertThat(send(HttpRequest.newBuilder(letters)).statusCode()).isEqualTo(400);
            assertThat(send(HttpRequest.newBuilder(URI.create(letters + "?listener=orders")))
                            .body())
                    .contains("running: none");
            assertThat(post(letters, "{\"listener\":\"orders\",\"messages\":\"1\",\"reason\":\"mended\"}")
                            .statusCode())
                    .isEqualTo(404);
            assertThat(send(HttpRequest.newBuilder(uri(application, "management", "/manage/exactlyonce/other")))
                            .statusCode())
                    .isEqualTo(404);
            assertThat(send(HttpRequest.newBuilder(uri(application, "server", "/manage/exactlyonce/parked")))
                            .statusCode())
                    .isEqualTo(404);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
    void partsOfAReadOnlyEndpointChangeNothing(WebApplicationType stack) throws Exception {
        try (var application = start(stack, "management.endpoint.exactlyonce.show-values=always")) {
            URI parked = uri(application, "server", "/actuator/exactlyonce/parked");

            assertThat(json(send(HttpRequest.newBuilder(parked)))
                            .path("parked")
                            .get(0)
                            .path("key")
                            .asString())
                    .isEqualTo("card-1");
            assertThat(post(parked, "{\"decision\":\"release\",\"scope\":\"orders\",\"dryRun\":true}")
                            .statusCode())
                    .isEqualTo(405);
        }
    }

    @Test
    void keysAreShownToTheAuthorizedRolesOfTheProperty() throws Exception {
        try (var application = start(
                WebApplicationType.SERVLET,
                "management.endpoint.exactlyonce.access=unrestricted",
                "management.endpoint.exactlyonce.show-values=when_authorized",
                "management.endpoint.exactlyonce.roles=operator")) {
            URI parked = uri(application, "server", "/actuator/exactlyonce/parked");

            for (String caller : List.of("operator", "viewer")) {
                assertThat(json(send(HttpRequest.newBuilder(parked), caller))
                                .path("parked")
                                .get(0)
                                .path("key")
                                .asString())
                        .as(caller)
                        .isEqualTo(caller.equals("operator") ? "card-1" : "******");
            }
            assertThat(json(send(HttpRequest.newBuilder(parked)))
                            .path("parked")
                            .get(0)
                            .path("key")
                            .asString())
                    .isEqualTo("******");
            assertThat(post(parked, "{\"reason\":\"" + "x".repeat(70_000) + "\"}")
                            .statusCode())
                    .isEqualTo(413);
            // Another site's page sends this request without a preflight.
            assertThat(send(HttpRequest.newBuilder(parked)
                                    .header("Content-Type", "text/plain")
                                    .POST(BodyPublishers.ofString("{\"decision\":\"release\"}")))
                            .statusCode())
                    .isEqualTo(415);
        }
    }
}
