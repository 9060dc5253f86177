package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Mode;
import io.exactlyonce.audit.AuditMode;
import io.exactlyonce.claim.SynchronousCommit;
import io.exactlyonce.delivery.MismatchPolicy;
import io.exactlyonce.property.UnknownProperties;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
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
            assertThat(properties.claim().initializeSchema()).isEqualTo(DatabaseInitializationMode.EMBEDDED);
            assertThat(properties.claim().coalescing())
                    .isEqualTo(new ExactlyOnceProperties.Coalescing(2, 256, Duration.ofSeconds(3)));
            assertThat(properties.claim().synchronousCommit()).isEqualTo(SynchronousCommit.ON);
            assertThat(properties.claim().cleanup())
                    .isEqualTo(new ExactlyOnceProperties.Cleanup(true, Duration.ofMinutes(1), 500));
            assertThat(properties.datasource())
                    .isEqualTo(new ExactlyOnceProperties.Datasource(
                            null, null, null, 10, Duration.ofSeconds(3), Duration.ofSeconds(10)));
            assertThat(properties.renewal()).isEqualTo(new ExactlyOnceProperties.Renewal(true, 0.5, 0.1));
            assertThat(properties.retry())
                    .isEqualTo(new ExactlyOnceProperties.Retry(Duration.ofSeconds(1), Duration.ofMinutes(5), 1_000));
            assertThat(context.getBean(AuditProperties.class)).isEqualTo(new AuditProperties(AuditMode.WARN, Set.of()));
            assertThat(context.getBean(ObservationProperties.class).opentelemetryNames())
                    .isFalse();
        });
    }

    @Test
    void valuesAreBound() {
        application
                .withPropertyValues(
                        "exactly-once.claim.lease=45s",
                        "exactly-once.claim.retention=30d",
                        "exactly-once.claim.initialize-schema=never",
                        "exactly-once.claim.synchronous-commit=remote_apply",
                        "exactly-once.datasource.url=jdbc:postgresql://db/shop",
                        "exactly-once.datasource.username=claims",
                        "exactly-once.datasource.password=secret",
                        "exactly-once.claim.cleanup.enabled=false",
                        "exactly-once.claim.cleanup.interval=5m",
                        "exactly-once.claim.cleanup.batch-size=1000",
                        "exactly-once.claim.on-mismatch=warn",
                        "exactly-once.claim.max-result-size=1KB",
                        "exactly-once.claim.coalescing.flushers=1",
                        "exactly-once.claim.coalescing.max-batch=64",
                        "exactly-once.claim.coalescing.patience=1s",
                        "exactly-once.datasource.maximum-pool-size=2",
                        "exactly-once.datasource.connection-timeout=8s",
                        "exactly-once.renewal.enabled=false",
                        "exactly-once.datasource.replica-lag-interval=0",
                        "exactly-once.mode=observe",
                        "exactly-once.claim.store=dynamodb",
                        "exactly-once.renewal.at=0.8",
                        "exactly-once.renewal.jitter=0.5",
                        "exactly-once.retry.initial-delay=2s",
                        "exactly-once.retry.max-delay=12h",
                        "exactly-once.retry.max-waiting=5000",
                        "exactly-once.unknown-properties=warn")
                .run(context -> assertThat(context.getBean(ExactlyOnceProperties.class))
                        .isEqualTo(new ExactlyOnceProperties(
                                Mode.OBSERVE,
                                new ExactlyOnceProperties.Claim(
                                        ExactlyOnceProperties.Store.DYNAMODB,
                                        Duration.ofSeconds(45),
                                        Duration.ofDays(30),
                                        MismatchPolicy.WARN,
                                        DataSize.ofKilobytes(1),
                                        DatabaseInitializationMode.NEVER,
                                        SynchronousCommit.REMOTE_APPLY,
                                        new ExactlyOnceProperties.Cleanup(false, Duration.ofMinutes(5), 1000),
                                        new ExactlyOnceProperties.Coalescing(1, 64, Duration.ofSeconds(1))),
                                new ExactlyOnceProperties.Datasource(
                                        "jdbc:postgresql://db/shop",
                                        "claims",
                                        "secret",
                                        2,
                                        Duration.ofSeconds(8),
                                        Duration.ZERO),
                                new ExactlyOnceProperties.Renewal(false, 0.8, 0.5),
                                new ExactlyOnceProperties.Retry(Duration.ofSeconds(2), Duration.ofHours(12), 5_000),
                                UnknownProperties.Reaction.WARN)));
    }

    @Test
    void valuesOfWhatWatchesAreBound() {
        application
                .withPropertyValues(
                        "exactly-once.audit.mode=fail",
                        "exactly-once.audit.silence=lease,in-flight",
                        "exactly-once.observation.opentelemetry-names=true")
                .run(context -> {
                    assertThat(context.getBean(AuditProperties.class))
                            .isEqualTo(new AuditProperties(AuditMode.FAIL, Set.of("in-flight", "lease")));
                    assertThat(context.getBean(ObservationProperties.class)).isEqualTo(new ObservationProperties(true));
                });
    }

    @ParameterizedTest
    @CsvSource({
        "claim.lease, 999ms, 999ms, 1s, 43200s",
        "claim.lease, 0s, 0s, 1s, 43200s",
        "claim.lease, -5s, -5s, 1s, 43200s",
        "claim.lease, 13h, 46800s, 1s, 43200s",
        "claim.retention, 59s, 59s, 60s, 315360000s",
        "claim.retention, 3651d, 315446400s, 60s, 315360000s",
        "claim.cleanup.interval, 999ms, 999ms, 1s, 86400s",
        "claim.cleanup.interval, 25h, 90000s, 1s, 86400s",
        "claim.cleanup.batch-size, 0, 0, 1, 10000",
        "claim.cleanup.batch-size, 10001, 10001, 1, 10000",
        "claim.max-result-size, 17MB, 17825792B, 0B, 16777216B",
        "claim.coalescing.flushers, 0, 0, 1, 16",
        "claim.coalescing.flushers, 17, 17, 1, 16",
        "claim.coalescing.max-batch, 0, 0, 1, 256",
        "claim.coalescing.max-batch, 257, 257, 1, 256",
        "claim.coalescing.patience, 99ms, 99ms, 100ms, 60s",
        "claim.coalescing.patience, 61s, 61s, 100ms, 60s",
        "datasource.maximum-pool-size, 1, 1, 2, 1000",
        "datasource.connection-timeout, 999ms, 999ms, 1s, 60s",
        "datasource.connection-timeout, 61s, 61s, 1s, 60s",
        "datasource.replica-lag-interval, 999ms, 999ms, 1s, 3600s",
        "datasource.replica-lag-interval, -1s, -1s, 1s, 3600s",
        "datasource.replica-lag-interval, 2h, 7200s, 1s, 3600s",
        "datasource.maximum-pool-size, 1001, 1001, 2, 1000",
        "renewal.at, 0.09, 0.09, 0.1, 0.8",
        "renewal.at, 0.81, 0.81, 0.1, 0.8",
        "renewal.at, NaN, NaN, 0.1, 0.8",
        "renewal.jitter, -0.1, -0.1, 0.0, 0.5",
        "renewal.jitter, 0.6, 0.6, 0.0, 0.5",
        "retry.initial-delay, 500ms, 500ms, 1s, 43200s",
        "retry.initial-delay, 13h, 46800s, 1s, 43200s",
        "retry.max-delay, 13h, 46800s, 1s, 43200s",
        "retry.max-delay, 900ms, 900ms, 1s, 43200s",
        "retry.max-waiting, -1, -1, 0, 5000",
        "retry.max-waiting, 5001, 5001, 0, 5000"
    })
    void valueOutOfBoundsStopsTheStartWithValueAndBounds(
            String property, String value, String shown, String least, String most) {
        FailureAnalysis analysis = startWith("exactly-once." + property + "=" + value);

        assertThat(analysis.getDescription()).contains("exactly-once." + property);
        assertThat(analysis.getDescription() + analysis.getAction())
                .contains("exactly-once.%s (%s) must be from %s to %s".formatted(property, shown, least, most));
    }

    @Test
    void longestDelayMustNotBeShorterThanTheFirst() {
        FailureAnalysis analysis =
                startWith("exactly-once.retry.initial-delay=60s", "exactly-once.retry.max-delay=30s");

        assertThat(analysis.getDescription())
                .contains("exactly-once.retry.max-delay (30s) must be at least exactly-once.retry.initial-delay (60s)");
    }

    @Test
    void commitsThatACrashForgetsAreNoChoice() {
        FailureAnalysis analysis = startWith("exactly-once.claim.synchronous-commit=off");

        assertThat(analysis.getDescription()).contains("exactly-once.claim.synchronous-commit", "\"off\"");
        assertThat(analysis.getAction()).contains("ON", "REMOTE_APPLY", "REMOTE_WRITE", "LOCAL");
    }

    @Test
    void urlMustBeOfPostgresqlAndIsNotQuoted() {
        FailureAnalysis analysis = startWith("exactly-once.datasource.url=jdbc:mysql://me:secret@db/shop");

        assertThat(analysis.getDescription())
                .contains("exactly-once.datasource.url (jdbc:mysql:/...)", "must begin with jdbc:postgresql:")
                .doesNotContain("secret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"username", "password"})
    void credentialsWithoutAnUrlAreOfNoUse(String property) {
        FailureAnalysis analysis = startWith("exactly-once.datasource." + property + "=secret");

        assertThat(analysis.getDescription())
                .contains("exactly-once.datasource.url, which is missing")
                .doesNotContain("secret");
    }

    @Test
    void secretsAreNotPrinted() {
        assertThat(new ExactlyOnceProperties.Datasource(
                        "jdbc:postgresql://me:secret@db/shop", "me", "secret", 2, Duration.ofSeconds(3), Duration.ZERO))
                .asString()
                .doesNotContain("secret");
    }

    @Test
    void valueOfTheWrongKindStopsTheStart() {
        FailureAnalysis analysis = startWith("exactly-once.claim.initialize-schema=sometimes");

        assertThat(analysis.getDescription()).contains("exactly-once.claim.initialize-schema", "sometimes");
    }

    private FailureAnalysis startWith(String... properties) {
        AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        application
                .withInitializer(started::set)
                .withPropertyValues(properties)
                .run(context -> failure.set(context.getStartupFailure()));
        assertThat(failure.get()).isNotNull();
        return FailureReport.of(failure.get(), started.get());
    }
}
