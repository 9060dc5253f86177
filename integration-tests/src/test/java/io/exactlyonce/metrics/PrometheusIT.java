package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;

/** The result of a scrape of {@code /actuator/prometheus} after one order and its duplicate. */
@UsesSqs
class PrometheusIT {

    private static final SqsServer SQS = SqsServer.shared();

    private static final Pattern SCRAPED = Pattern.compile("(?m)^# TYPE (exactly_once_\\S+) ");
    private static final Pattern DOCUMENTED = Pattern.compile("(?m)^\\| `(exactly_once_(?!dynamodb_)\\w+)`");

    static class Listener {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {}
    }

    @Test
    void gaugesTimersAndCountersAreScraped() throws Exception {
        String queue = SQS.createQueue(30);
        try (TestApplication application = TestApplication.start(
                WebApplicationType.SERVLET,
                EmbeddedDatabase.shared().createDatabase(),
                Map.of(
                        "test.queue", queue,
                        "management.endpoints.web.exposure.include", "prometheus",
                        "exactly-once.claim.cleanup.interval", "1s"),
                Listener.class)) {
            SQS.send(queue, "o1");
            await().until(() -> application.claims("COMPLETED") == 1);
            SQS.send(queue, "o1");
            await().until(() -> SQS.size(queue) == 0);

            String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
            String tags = "{listener=\"orders\",queue=\"%s\"".formatted(queue);
            // Checks one meter of each kind. The assertions below check that every meter exists, and
            // DeliveryMetricsTests checks the counts.
            await().untilAsserted(() -> assertThat(scrape(port))
                    .contains(
                            "exactly_once_delivery_quantile_seconds{listener=\"orders\",quantile=\"0.95\",queue=\"%s\"}"
                                    .formatted(queue))
                    .contains("exactly_once_handler_seconds_count" + tags + "} 1")
                    .contains("exactly_once_window_seconds" + tags + "} 30.0")
                    .contains("hikaricp_connections_max{pool=\"exactly-once-claims\"} 11.0")
                    .containsPattern("exactly_once_claims_oldest_seconds [0-9.]+\\n")
                    .containsPattern("exactly_once_sweep_seconds_count [1-9]")
                    .containsPattern("exactly_once_window_headroom_seconds\\{[^}]*} 2[89]\\.\\d+")
                    .contains("exactly_once_completions_total" + tags + "} 1.0")
                    .contains("exactly_once_acknowledgements_total" + tags + "} 2.0")
                    .doesNotContainPattern("# HELP exactly_once_\\S+ *\n"));
            assertThatMetersAreThoseOfTheDocumentation(scrape(port));
        }
    }

    /**
     * Meters that depend on the environment: this application has no replica, dead-letter queue, parked key or observed
     * listener.
     */
    private static final Set<String> ELSEWHERE = Set.of(
            "exactly_once_claims_parked",
            "exactly_once_claims_parked_age_seconds",
            "exactly_once_replica_lag_seconds",
            "exactly_once_replica_lag_bytes",
            "exactly_once_receives_left",
            "exactly_once_observed_total",
            "exactly_once_unobserved_total");

    private static void assertThatMetersAreThoseOfTheDocumentation(String scrape) throws IOException {
        Set<String> expected = names(DOCUMENTED, Files.readString(Path.of("../docs/metrics.md")));
        expected.removeAll(ELSEWHERE);
        Set<String> scraped = names(SCRAPED, scrape);
        scraped.removeIf(name -> name.endsWith("_max") && scraped.contains(name.substring(0, name.length() - 4)));
        assertThat(scraped).isEqualTo(expected);
    }

    private static Set<String> names(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String scrape(String port) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + port + "/actuator/prometheus");
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
