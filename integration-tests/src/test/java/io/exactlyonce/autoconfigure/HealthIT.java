package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;

/** Results of the probes while the claim database is unavailable and the application's own database is available. */
@UsesSqs
class HealthIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();

    /** The time that a pool needs to detect that connections work again. */
    private static final Duration SOON = Duration.ofSeconds(20);

    private final String claims = SERVER.createDatabase();

    private TestApplication start(Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.put("exactly-once.datasource.url", claims);
        all.put("exactly-once.datasource.username", SERVER.username());
        all.put("exactly-once.datasource.password", SERVER.password());
        all.put("management.endpoint.health.probes.enabled", "true");
        all.put("management.endpoint.health.show-components", "always");
        return TestApplication.start(WebApplicationType.SERVLET, SERVER.createDatabase(), all);
    }

    /** Returns the status code and the body. */
    private static String health(TestApplication application, String group) {
        String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
        URI uri = URI.create("http://127.0.0.1:" + port + "/actuator/health" + group);
        try {
            var answer =
                    HttpClient.newHttpClient().send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
            return answer.statusCode() + " " + answer.body();
        } catch (Exception failure) {
            throw new AssertionError("No health at " + uri, failure);
        }
    }

    @Test
    void applicationAndItsProbesStayUpWhileTheDatabaseOfClaimsIsAway() {
        try (TestApplication application = start(Map.of())) {
            SERVER.disconnect(claims);

            assertThat(health(application, ""))
                    .startsWith("200")
                    .contains("\"db\"")
                    .doesNotContain("exactlyOnce");
            assertThat(health(application, "/readiness")).startsWith("200");
            assertThat(health(application, "/liveness")).startsWith("200");
        }
    }

    @Test
    void groupThatNamesClaimsIsDownWhileTheirDatabaseIsAway() {
        Map<String, String> groups = Map.of(
                "management.endpoint.health.group.claims.include", "exactlyOnce",
                "management.endpoint.health.group.application.include", "db",
                "management.endpoint.health.group.everything.include", "*");
        try (TestApplication application = start(groups)) {
            assertThat(health(application, "/claims")).startsWith("200").contains("\"exactlyOnce\":{\"status\":\"UP\"");

            SERVER.disconnect(claims);

            assertThat(health(application, "/claims")).startsWith("503");
            assertThat(health(application, "/everything"))
                    .startsWith("503")
                    .contains("\"exactlyOnce\":{\"status\":\"DOWN\"")
                    .doesNotContain("exactlyOnceClaimPool");
            assertThat(health(application, "/application")).startsWith("200");
            SERVER.reconnect(claims);
            await().atMost(SOON).until(() -> health(application, "/claims").startsWith("200"));
        }
    }
}
