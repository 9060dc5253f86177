package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;

/** {@code /actuator/exactlyonceconsole} on each of Spring Boot's web stacks, in an application without listeners. */
class ExactlyOnceConsoleTests {

    private static final int LARGEST = 60_000;

    /** Applications need neither SQS nor a database before they have a listener. */
    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfigurationWithoutSecurity
    static class Application {}

    /** Web stacks by which Spring Boot serves endpoints. */
    enum Stack {
        MVC(WebApplicationType.SERVLET),
        WEBFLUX(WebApplicationType.REACTIVE),
        /** Spring Boot prefers this stack if Spring MVC is missing. */
        JERSEY(WebApplicationType.SERVLET, "org.springframework.web.servlet");

        private final WebApplicationType type;
        private final String[] missing;

        Stack(WebApplicationType type, String... missing) {
            this.type = type;
            this.missing = missing;
        }

        ConfigurableApplicationContext start(String... properties) {
            return new SpringApplicationBuilder(Application.class)
                    .resourceLoader(new DefaultResourceLoader(
                            missing.length == 0 ? getClass().getClassLoader() : new FilteredClassLoader(missing)))
                    .web(type)
                    .properties(
                            "server.port=0",
                            "spring.main.banner-mode=off",
                            "spring.cloud.aws.region.static=eu-central-1")
                    // Two reactive servers are on the class path, and a separate management port needs one of them.
                    .properties(
                            "spring.autoconfigure.exclude="
                                    + "org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration")
                    .properties(properties)
                    .run();
        }
    }

    private static HttpResponse<String> get(ConfigurableApplicationContext application, String port, String path)
            throws IOException, InterruptedException {
        URI page = URI.create("http://127.0.0.1:"
                + application.getEnvironment().getRequiredProperty("local." + port + ".port") + path);
        // The request of a browser.
        HttpRequest.Builder request = HttpRequest.newBuilder(page)
                .header("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
        return WebRequests.send(request);
    }

    @ParameterizedTest
    @EnumSource
    void pageIsOneSmallResponseUnderAStrictPolicyOnEachStack(Stack stack) throws Exception {
        try (var application =
                stack.start("management.endpoints.web.exposure.include=exactlyonce,exactlyonceconsole")) {
            HttpResponse<String> page = get(application, "server", "/actuator/exactlyonceconsole");

            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Type").orElseThrow().replace(" ", ""))
                    .isEqualToIgnoringCase("text/html;charset=UTF-8");
            assertThat(page.body())
                    .startsWith("<!doctype html>")
                    .contains("data-api=\"exactlyonce\"", "data-write=\"false\"")
                    .hasSizeLessThan(LARGEST)
                    .matches(Pattern.compile("\\p{ASCII}*"));
            assertThat(page.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
            assertThat(page.headers().firstValue("Cache-Control")).contains("no-store");
            String policy = page.headers().firstValue("Content-Security-Policy").orElseThrow();
            assertThat(policy.split("; "))
                    .containsExactly(
                            "default-src 'none'",
                            "script-src '" + hash(page.body(), "script") + "'",
                            "style-src '" + hash(page.body(), "style") + "'",
                            "connect-src 'self'",
                            "img-src data:",
                            "base-uri 'none'",
                            "form-action 'none'",
                            "frame-ancestors 'none'");
            assertThat(page.body()).contains("content=\"" + policy.replace("; frame-ancestors 'none'", "") + "\"");
            assertThat(get(application, "server", "/actuator/exactlyonce")
                            .headers()
                            .map())
                    .doesNotContainKey("content-security-policy");
        }
    }

    private static String hash(String html, String element) throws Exception {
        String content = html.split("<" + element + ">", 2)[1].split("</" + element + ">", 2)[0];
        return "sha256-"
                + Base64.getEncoder()
                        .encodeToString(MessageDigest.getInstance("SHA-256").digest(content.getBytes("UTF-8")));
    }

    /** Another site could show such a page in a frame, and trick its reader into pressing a button. */
    @ParameterizedTest
    @EnumSource
    void pageHasItsPolicyUnderEachSpellingOfItsPath(Stack stack) throws Exception {
        try (var application =
                stack.start("management.endpoints.web.exposure.include=exactlyonce,exactlyonceconsole")) {
            for (String spelling : List.of(
                    "/actuator/%65xactlyonceconsole",
                    "/actuator/exactlyonceconsole;a=b",
                    "/actuator;a/exactlyonceconsole",
                    "/actuator//exactlyonceconsole",
                    "/actuator/exactlyonceconsole/")) {
                HttpResponse<String> page = get(application, "server", spelling);

                if (page.body().contains("Exactly-once console")) {
                    assertThat(page.headers().firstValue("Content-Security-Policy"))
                            .as(spelling)
                            .isPresent();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void pageOfTheManagementPortFindsTheEndpointWhereverItIsMapped(Stack stack) throws Exception {
        try (var application = stack.start(
                "management.endpoints.web.exposure.include=exactlyonce,exactlyonceconsole",
                "management.server.port=0",
                "management.endpoints.web.base-path=/manage",
                "management.endpoints.web.path-mapping.exactlyonce=claims/api",
                "management.endpoints.web.path-mapping.exactlyonceconsole=ops/console",
                "management.endpoint.exactlyonce.access=unrestricted")) {
            HttpResponse<String> page = get(application, "management", "/manage/ops/console");

            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Security-Policy")).isPresent();
            assertThat(page.body()).contains("data-api=\"../claims/api\"", "data-write=\"true\"");
            assertThat(get(application, "management", "/manage/claims/api").statusCode())
                    .isEqualTo(200);
            assertThat(get(application, "server", "/manage/ops/console").statusCode())
                    .isEqualTo(404);
        }
    }

    @ParameterizedTest
    @EnumSource
    void pageThatIsNotExposedIsMissing(Stack stack) throws Exception {
        try (var application = stack.start("management.endpoints.web.exposure.include=exactlyonce")) {
            assertThat(get(application, "server", "/actuator/exactlyonceconsole")
                            .statusCode())
                    .isEqualTo(404);
            assertThat(get(application, "server", "/actuator/exactlyonce").statusCode())
                    .isEqualTo(200);
        }
    }

    /** Markup and requests that a page under this policy could not use, or that would lead elsewhere. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.INCLUDE, names = "MVC")
    void pageHasNoMarkupFromTextAndNoAddressElsewhere(Stack stack) throws Exception {
        try (var application = stack.start("management.endpoints.web.exposure.include=exactlyonceconsole")) {
            String page =
                    get(application, "server", "/actuator/exactlyonceconsole").body();

            assertThat(Stream.of(
                            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("))
                    .noneMatch(page::contains);
            assertThat(Pattern.compile("https?://[^'\"\\s]+")
                            .matcher(page)
                            .results()
                            .map(found -> found.group()))
                    .containsOnly("http://www.w3.org/2000/svg");
            assertThat(page).doesNotContain("<script ", "<style ", " style=", " onclick=");
        }
    }
}
