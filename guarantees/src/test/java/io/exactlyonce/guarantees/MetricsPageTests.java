package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.GeneratedPage;
import io.exactlyonce.audit.QueueObserver.Levels;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.dynamodb.autoconfigure.DynamoDbMeters;
import io.exactlyonce.metrics.ClaimDatabaseMetrics;
import io.exactlyonce.metrics.DeliveryMetrics;
import io.exactlyonce.metrics.ObservedMetrics;
import io.exactlyonce.metrics.ParkedMetrics;
import io.exactlyonce.metrics.QueueMetrics;
import io.exactlyonce.metrics.RetentionMetrics;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.ReplicaLag;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.ResourceBundle;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code docs/metrics.md} has a table of every meter, generated from the meters themselves. */
class MetricsPageTests {

    private static final Path PAGE = Path.of("../docs/metrics.md");

    /** Matches the table; the text before and after it is written by hand. */
    private static final Pattern TABLE =
            Pattern.compile("(?s)(?<=<!-- generated: begin -->\n).*(?=<!-- generated: end -->)");

    private static final String DYNAMO_DB = "exactly_once_dynamodb_";

    /** All possible meters. */
    static MetersTable all() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Subscription orders = new Subscription(
                "fulfilment",
                "orders",
                new QueueSettings(VisibilityWindow.ofSeconds(30), 5),
                null,
                new ScriptedQueue(),
                PollGate.OPEN);
        DeliveryMetrics deliveries = new DeliveryMetrics(registry, new WindowWatch(true, List.of(), () -> 0));
        deliveries.subscribed(orders);
        new QueueMetrics(registry).observed(orders, new Levels(0L, 0L, 0L, 0L));
        new RetentionMetrics(registry).surveyed(null);
        ParkedClaims parked = mock();
        when(parked.count()).thenReturn(List.of(new ParkedClaims.Count("orders", 1, Instant.EPOCH)));
        new ParkedMetrics(registry, parked, InstantSource.system()).refresh();
        new ClaimDatabaseMetrics(registry, ClaimPool.around(new HikariDataSource(), 1))
                .observed(List.of(new ReplicaLag("replica@10.0.0.6", Duration.ZERO, 0)));
        new ObservedMetrics(registry).observing(new ListenerQueue("fulfilment", "orders"));
        DynamoDbMeters.bindTo(registry);
        return MetersTable.of(registry.scrape());
    }

    @Test
    void pageHasTheMetersThatThereAre() throws IOException {
        String page = Files.readString(PAGE);
        assertThat(page).containsPattern(TABLE);

        GeneratedPage.matches(PAGE, TABLE.matcher(page).replaceFirst(Matcher.quoteReplacement(all().markdown())));
    }

    @Test
    void everyMeterHasADescription() {
        assertThat(all().rows()).hasSizeGreaterThan(20).allSatisfy((name, row) -> {
            assertThat(row.help()).as(name).isNotBlank().doesNotContain("|");
            assertThat(row.labels()).as(name).doesNotContain("key");
        });
    }

    @Test
    void everyTextIsThatOfAMeter() {
        assertThat(all().rows().keySet().stream().filter(name -> !name.startsWith(DYNAMO_DB)))
                .hasSameSizeAs(ResourceBundle.getBundle("io.exactlyonce.metrics.meters")
                        .keySet());
    }
}
