package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.audit.QueueObserver.Levels;
import io.exactlyonce.observed.ObservedQueue;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.ReplicaLag;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.ResourceBundle;
import org.junit.jupiter.api.Test;

class MetersTableTests {

    /** Every meter that there can be. */
    static MetersTable all() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Subscription orders = new Subscription(
                        "fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue())
                .revised(VisibilityWindow.ofSeconds(30), 5);
        DeliveryMetrics deliveries = new DeliveryMetrics(registry, new WindowWatch(true, List.of(), () -> 0));
        deliveries.subscribed(orders);
        new QueueMetrics(registry).observed(orders, new Levels(0L, 0L, 0L, 0L));
        new RetentionMetrics(registry).surveyed(null, 0);
        new ClaimDatabaseMetrics(registry, ClaimPool.around(new HikariDataSource(), 1))
                .observed(List.of(new ReplicaLag("replica@10.0.0.6", Duration.ZERO, 0)));
        new ObservedMetrics(registry).observing(new ObservedQueue("fulfilment", "orders"));
        return MetersTable.of(registry.scrape());
    }

    @Test
    void tableInTheDocumentationShowsTheMetersThatThereAre() throws Exception {
        String table = all().markdown();
        Path proposal = MetersTable.root().resolve("autoconfigure/target/meters.md");
        Files.createDirectories(proposal.getParent());
        Files.writeString(proposal, table);

        assertThat(MetersTable.documented())
                .as("The table of docs/metrics.md; %s has what it should be", proposal)
                .isEqualTo(table);
    }

    @Test
    void everyMeterSaysWhatItIs() {
        assertThat(all().rows()).hasSizeGreaterThan(20).allSatisfy((name, row) -> {
            assertThat(row.help()).as(name).isNotBlank().doesNotContain("|");
            assertThat(row.labels()).as(name).doesNotContain("key");
        });
    }

    @Test
    void everyTextIsThatOfAMeter() {
        assertThat(all().rows())
                .hasSameSizeAs(ResourceBundle.getBundle("io.exactlyonce.metrics.meters")
                        .keySet());
    }

    @Test
    void scrapeBecomesRows() {
        MetersTable table = MetersTable.of("""
                # HELP exactly_once_a_seconds A timer
                # TYPE exactly_once_a_seconds histogram
                exactly_once_a_seconds_bucket{listener="l",le="+Inf"} 0
                exactly_once_a_seconds_count{listener="l"} 0
                # HELP exactly_once_a_seconds_max A timer
                # TYPE exactly_once_a_seconds_max gauge
                exactly_once_a_seconds_max{listener="l"} 0.0
                # HELP jvm_threads Another's
                # TYPE jvm_threads gauge
                jvm_threads 3
                """);

        assertThat(table.markdown()).isEqualTo("""
                | On `/actuator/prometheus` | Type | Labels | What it says |
                |---|---|---|---|
                | `exactly_once_a_seconds` | histogram | `listener` | A timer |
                """);
    }
}
