package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.csrf.CookieServerCsrfTokenRepository;
import org.springframework.security.web.server.csrf.CsrfToken;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Endpoint and console behind Spring Security, as docs/operating.md secures them. One role reads, and another decides.
 * Traps: a page whose decisions all fail for their CSRF token; a log line without the name of the person.
 */
@ExtendWith(OutputCaptureExtension.class)
class SecuredEndpointTests {

    private static final JsonMapper JSON = new JsonMapper();

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        EndpointStacksTests.Store parkedClaims() {
            return new EndpointStacksTests.Store();
        }

        static UserDetails user(String name) {
            return User.withUsername(name)
                    .password("{noop}secret")
                    .roles(name.toUpperCase(java.util.Locale.ROOT))
                    .build();
        }
    }

    /** The example of docs/operating.md. */
    @Import(Application.class)
    static class Servlet {

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(Application.user("viewer"), Application.user("operator"));
        }

        void csrf(CsrfConfigurer<HttpSecurity> csrf) {
            csrf.spa();
        }

        @Bean
        SecurityFilterChain operators(HttpSecurity http) {
            return http.securityMatcher(EndpointRequest.toAnyEndpoint())
                    .authorizeHttpRequests(requests -> requests.requestMatchers(
                                    EndpointRequest.to("exactlyonce").withHttpMethod(HttpMethod.POST))
                            .hasRole("OPERATOR")
                            .anyRequest()
                            .hasAnyRole("VIEWER", "OPERATOR"))
                    .httpBasic(Customizer.withDefaults())
                    .csrf(this::csrf)
                    .build();
        }
    }

    /** A common alternative: the cookie with Spring Security's default handler, which expects a masked token. */
    static class ServletWithDefaultHandler extends Servlet {

        @Override
        void csrf(CsrfConfigurer<HttpSecurity> csrf) {
            csrf.csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse());
        }
    }

    /** The example of docs/operating.md. */
    @Import(Application.class)
    static class Reactive {

        @Bean
        MapReactiveUserDetailsService users() {
            return new MapReactiveUserDetailsService(Application.user("viewer"), Application.user("operator"));
        }

        @Bean
        SecurityWebFilterChain operators(ServerHttpSecurity http) {
            return http.securityMatcher(
                            org.springframework.boot.security.autoconfigure.actuate.web.reactive.EndpointRequest
                                    .toAnyEndpoint())
                    .authorizeExchange(
                            exchanges -> exchanges
                                    .matchers(org.springframework.boot.security.autoconfigure.actuate.web.reactive
                                            .EndpointRequest.to("exactlyonce")
                                            .withHttpMethod(HttpMethod.POST))
                                    .hasRole("OPERATOR")
                                    .anyExchange()
                                    .hasAnyRole("VIEWER", "OPERATOR"))
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.csrfTokenRepository(CookieServerCsrfTokenRepository.withHttpOnlyFalse()))
                    .build();
        }

        /** WebFlux writes the cookie only if something subscribes to the token. */
        @Bean
        WebFilter csrfCookie() {
            return (exchange, chain) -> {
                Mono<CsrfToken> token = exchange.getAttributeOrDefault(CsrfToken.class.getName(), Mono.empty());
                exchange.getResponse().beforeCommit(token::then);
                return chain.filter(exchange);
            };
        }
    }

    enum Stack {
        MVC(WebApplicationType.SERVLET, Servlet.class, false),
        MVC_WITH_DEFAULT_HANDLER(WebApplicationType.SERVLET, ServletWithDefaultHandler.class, true),
        WEBFLUX(WebApplicationType.REACTIVE, Reactive.class, true);

        private final WebApplicationType type;
        private final Class<?> security;
        private final boolean expectsMask;

        Stack(WebApplicationType type, Class<?> security, boolean expectsMask) {
            this.type = type;
            this.security = security;
            this.expectsMask = expectsMask;
        }

        ConfigurableApplicationContext start(String... properties) {
            return new SpringApplicationBuilder(security)
                    .web(type)
                    .properties(
                            "server.port=0",
                            "spring.main.banner-mode=off",
                            "spring.cloud.aws.region.static=eu-central-1",
                            "management.endpoints.web.exposure.include=exactlyonce,exactlyonceconsole",
                            "management.endpoint.exactlyonce.access=unrestricted",
                            "management.endpoint.exactlyonce.show-values=when_authorized",
                            "management.endpoint.exactlyonce.roles=OPERATOR",
                            // Two reactive servers are on the class path, and a separate management port needs one of
                            // them.
                            "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration")
                    .properties(properties)
                    .run();
        }
    }

    /** The browser of a person. It signs in, and returns cookies as the page reads them. */
    private static final class Browser {
        private final URI actuator;
        private final String name;
        private final Map<String, String> cookies = new HashMap<>();

        Browser(ConfigurableApplicationContext application, String port, String name) {
            this.actuator = URI.create("http://127.0.0.1:"
                    + application.getEnvironment().getRequiredProperty("local." + port + ".port") + "/actuator/");
            this.name = name;
        }

        HttpResponse<String> get(String path) throws Exception {
            return send(request(path).header("Accept", "text/html,application/json;q=0.9,*/*;q=0.8"));
        }

        HttpResponse<String> post(String path, String token, String body) throws Exception {
            HttpRequest.Builder request = request(path).header("Content-Type", "application/json");
            if (!token.isEmpty()) {
                request.header("X-XSRF-TOKEN", token);
            }
            return send(request.POST(BodyPublishers.ofString(body)));
        }

        private HttpRequest.Builder request(String path) {
            HttpRequest.Builder request = HttpRequest.newBuilder(actuator.resolve(path));
            if (!name.isEmpty()) {
                byte[] credentials = (name + ":secret").getBytes(StandardCharsets.UTF_8);
                request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
            }
            cookies.forEach((cookie, value) -> request.header("Cookie", cookie + "=" + value));
            return request;
        }

        private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
            HttpResponse<String> response = WebRequests.send(request);
            response.headers().allValues("Set-Cookie").forEach(cookie -> {
                String[] pair = cookie.split(";", 2)[0].split("=", 2);
                cookies.put(pair[0], pair[1]);
            });
            return response;
        }

        String token() {
            return cookies.getOrDefault("XSRF-TOKEN", "");
        }

        /** Masks a token as the page's script does. */
        String maskedToken() {
            byte[] masked = ("\0".repeat(token().length()) + token()).getBytes(StandardCharsets.US_ASCII);
            return Base64.getUrlEncoder().encodeToString(masked);
        }
    }

    private static String decision(long claim) {
        return "{\"decision\":\"release\",\"reason\":\"outage 4711\",\"claims\":\"%s\"}".formatted(new UUID(0, claim));
    }

    @ParameterizedTest
    @EnumSource
    void eachRoleDoesWhatItMayBehindSpringSecurity(Stack stack, CapturedOutput output) throws Exception {
        try (var application = stack.start()) {
            assertThat(new Browser(application, "server", "")
                            .get("exactlyonceconsole")
                            .statusCode())
                    .isEqualTo(401);
            Browser viewer = new Browser(application, "server", "viewer");
            HttpResponse<String> page = viewer.get("exactlyonceconsole");
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.body()).contains("data-write=\"true\"");
            assertThat(page.headers().allValues("Content-Security-Policy"))
                    .singleElement()
                    .asString()
                    .contains("default-src 'none'", "frame-ancestors 'none'");
            assertThat(page.headers().allValues("X-Frame-Options")).containsExactly("DENY");
            assertThat(page.headers().allValues("Cache-Control")).containsExactly("no-store");
            assertThat(keys(viewer)).containsExactly("******", "******");

            for (String token : List.of("", viewer.token(), viewer.maskedToken())) {
                assertThat(viewer.post("exactlyonce/parked", token, decision(1)).statusCode())
                        .isEqualTo(403);
                for (String spelling :
                        List.of("%65xactlyonce/parked", "exactlyonce;a=b/parked", "exactlyonce//parked")) {
                    assertThat(viewer.post(spelling, token, decision(1)).statusCode())
                            .as(spelling)
                            .isIn(400, 403, 404);
                }
            }

            Browser operator = new Browser(application, "server", "operator");
            assertThat(keys(operator)).containsExactly("card-1", "card-2");
            assertThat(operator.post("exactlyonce/parked", "", decision(1)).statusCode())
                    .as("another site's request")
                    .isEqualTo(403);
            assertThat(operator.token()).as("cookie of the token").isNotEmpty();
            String right = stack.expectsMask ? operator.maskedToken() : operator.token();
            String wrong = stack.expectsMask ? operator.token() : operator.maskedToken();
            assertThat(operator.post("exactlyonce/parked", wrong, decision(1)).statusCode())
                    .isEqualTo(403);
            assertThat(keys(operator)).as("nothing was decided").hasSize(2);
            assertThat(operator.post("exactlyonce/parked", right, decision(1)).body())
                    .contains("\"claimId\":\"" + new UUID(0, 1));
            assertThat(operator.post(
                                    "exactlyonce",
                                    right,
                                    "{\"scope\":\"orders\",\"key\":\"card-2\",\"claimId\":\"%s\",\"decision\":\"complete\"}"
                                            .formatted(new UUID(0, 2)))
                            .body())
                    .isEqualTo("{\"decided\":true}");
            assertThat(output)
                    .contains(
                            "'operator' asked to release 1 named claims, because \"outage 4711\": 1 decided",
                            "'operator' decided to release the parked claim " + new UUID(0, 1),
                            "'operator' asked to complete the parked claim " + new UUID(0, 2))
                    .doesNotContain("A caller without a name", "'viewer' asked");
        }
    }

    private static List<String> keys(Browser browser) throws Exception {
        HttpResponse<String> answer = browser.get("exactlyonce/overview");
        assertThat(answer.statusCode()).isEqualTo(200);
        JsonNode overview = JSON.readTree(answer.body());
        assertThat(overview.path("sinceStart").path("takeovers").asInt(-1)).isZero();
        return overview.path("parked").path("parked").findValuesAsString("key");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MVC_WITH_DEFAULT_HANDLER")
    void endpointOnAManagementPortIsSecuredAsWell(Stack stack, CapturedOutput output) throws Exception {
        try (var application = stack.start("management.server.port=0")) {
            assertThat(new Browser(application, "management", "")
                            .get("exactlyonce/parked")
                            .statusCode())
                    .isEqualTo(401);
            Browser viewer = new Browser(application, "management", "viewer");
            assertThat(keys(viewer)).containsExactly("******", "******");
            viewer.post("exactlyonce/parked", "", decision(1));
            assertThat(viewer.post(
                                    "exactlyonce/parked",
                                    stack.expectsMask ? viewer.maskedToken() : viewer.token(),
                                    decision(1))
                            .statusCode())
                    .isEqualTo(403);
            Browser operator = new Browser(application, "management", "operator");
            assertThat(operator.get("exactlyonceconsole").headers().firstValue("Content-Security-Policy"))
                    .isPresent();
            operator.post("exactlyonce/parked", "", decision(1));
            assertThat(operator.post(
                                    "exactlyonce/parked",
                                    stack.expectsMask ? operator.maskedToken() : operator.token(),
                                    decision(1))
                            .statusCode())
                    .isEqualTo(200);
            assertThat(output).contains("'operator' asked to release 1 named claims");
        }
    }
}
