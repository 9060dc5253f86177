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
}
