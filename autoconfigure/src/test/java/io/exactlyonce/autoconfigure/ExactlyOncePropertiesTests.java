package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.audit.AuditMode;
import io.exactlyonce.postgres.SynchronousCommit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.unit.DataSize;

class ExactlyOncePropertiesTests {

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties({ExactlyOnceProperties.class, AuditProperties.class, ObservationProperties.class})
    static class Settings {}

    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withUserConfiguration(Settings.class);

    @Test
    void defaultsAreTheDocumentedOnes() {
        application.run(context -> {
            ExactlyOnceProperties properties = context.getBean(ExactlyOnceProperties.class);

            assertThat(properties.claim().lease()).isNull();
            assertThat(properties.claim().retention()).isEqualTo(Duration.ofDays(18));
            assertThat(properties.claim().onMismatch()).isEqualTo(MismatchPolicy.REFUSE);
            assertThat(properties.claim().maxResultSize()).isEqualTo(DataSize.ofKilobytes(64));
            assertThat(properties.claim().initializeSchema()).isEqualTo(DatabaseInitializationMode.NEVER);
            assertThat(properties.claim().synchronousCommit()).isEqualTo(SynchronousCommit.ON);
            assertThat(properties.claim().cleanup())
                    .isEqualTo(new ExactlyOnceProperties.Cleanup(true, Duration.ofMinutes(1)));
            assertThat(properties.datasource())
                    .isEqualTo(new ExactlyOnceProperties.Datasource(
                            null, null, null, 10, Duration.ofSeconds(3), Duration.ofSeconds(10)));
            assertThat(properties.renewal()).isEqualTo(new ExactlyOnceProperties.Renewal(true, 0.5));
            assertThat(properties.retry())
                    .isEqualTo(new ExactlyOnceProperties.Retry(Duration.ofSeconds(1), Duration.ofMinutes(5), 1_000));
            assertThat(context.getBean(AuditProperties.class)).isEqualTo(new AuditProperties(AuditMode.WARN, Set.of()));
            assertThat(context.getBean(ObservationProperties.class).opentelemetryNames())
                    .isFalse();
        });
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            claim.lease,                     1s,    12h,  999ms, 13h
            claim.retention,                 1m,    3650d, 59s,   3651d
            claim.cleanup.interval,          1s,    1d,         999ms, 25h
            claim.max-result-size,           0B,    16777216B,  -1B,   17MB
            datasource.maximum-pool-size,    2,     1000,       1,     1001
            datasource.connection-timeout,   1s,    1m,         999ms, 61s
            datasource.replica-lag-interval, 1s,    1h,         -1s,   2h
            renewal.at,                      0.1,   0.8,        0.09,  0.81
            renewal.at,                      0.1,   0.8,        NaN,   1
            retry.initial-delay,             1s,    12h,  500ms, 13h
            retry.max-delay,                 1s,    12h,  900ms, 13h
            retry.max-waiting,               0,     5000,       -1,    5001
            listeners.Orders-1.lease,        1s,    12h,  999ms, 13h
            listeners.orders.retention,      1m,    3650d, 59s,   3651d
            listeners.orders.timeout,        1s,    12h,  999ms, 13h
            listeners.orders.retry.initial-delay, 1s, 12h,  500ms, 13h
            listeners.orders.retry.max-delay, 1s,   12h,  900ms, 13h
            listeners.orders.max-attempts,   0,     1000,       -1,    1001
            """)
    void valueOutOfBoundsFailsStartupWithValueAndBounds(
            String property, String least, String most, String less, String more) {
        for (String value : List.of(less, more)) {
            FailureAnalysis analysis =
                    FailureReport.of(application.withPropertyValues("exactly-once." + property + "=" + value));

            assertThat(analysis.getDescription() + analysis.getAction())
                    .contains("exactly-once." + property + " (", ") must be from " + least + " to " + most);
        }
    }

    @Test
    void listenerHasItsOwnSettingsAndThoseForAllInThePlaceOfOthers() {
        application
                .withPropertyValues(
                        "exactly-once.claim.lease=2m",
                        "exactly-once.retry.max-delay=10m",
                        "exactly-once.listeners.orders.retention=30d",
                        "exactly-once.listeners.orders.retry.initial-delay=5s",
                        "exactly-once.listeners.[a.b#0].on-mismatch=off",
                        "exactly-once.listeners.[a.b#0].mode=observe")
                .run(context -> assertThat(
                                context.getBean(ExactlyOnceProperties.class).listeners())
                        .containsOnly(
                                Map.entry("orders", listener(null, Duration.ofDays(30), null, Duration.ofSeconds(5))),
                                Map.entry(
                                        "a.b#0",
                                        listener(
                                                ClaimMode.OBSERVE,
                                                Duration.ofDays(18),
                                                MismatchPolicy.OFF,
                                                Duration.ofSeconds(1)))));
    }

    private static ExactlyOnceProperties.Listener listener(
            @Nullable ClaimMode mode, Duration retention, @Nullable MismatchPolicy onMismatch, Duration initialDelay) {
        return new ExactlyOnceProperties.Listener(
                mode,
                null,
                Duration.ofMinutes(2),
                retention,
                onMismatch,
                new ExactlyOnceProperties.Delays(initialDelay, Duration.ofMinutes(10)),
                null,
                null);
    }

    @Test
    void commitsThatACrashForgetsAreNoChoice() {
        FailureAnalysis analysis =
                FailureReport.of(application.withPropertyValues("exactly-once.claim.synchronous-commit=off"));

        assertThat(analysis.getDescription()).contains("exactly-once.claim.synchronous-commit", "\"off\"");
        assertThat(analysis.getAction()).contains("ON", "REMOTE_APPLY", "REMOTE_WRITE", "LOCAL");
    }

    @Test
    void secretsAreNotPrinted() {
        assertThat(new ExactlyOnceProperties.Datasource(
                        "jdbc:postgresql://db/shop?password=secret",
                        "me",
                        "secret",
                        2,
                        Duration.ofSeconds(3),
                        Duration.ZERO))
                .asString()
                .doesNotContain("secret");
    }
}
