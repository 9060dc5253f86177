package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ExactlyOnceDataSource;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SplittingDataSource;
import io.exactlyonce.testing.StreamingReplica;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;

/** The second incident: one database row and two card charges, because the check read from a replica that lagged. */
class SecondPaymentIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String PRIMARY = SERVER.createDatabase();
    private static StreamingReplica replica;

    private int charges;

    @BeforeAll
    static void startReplica() throws Exception {
        new JdbcTemplate(SERVER.dataSource(PRIMARY))
                .execute("CREATE TABLE IF NOT EXISTS processed (payment text PRIMARY KEY)");
        replica = new StreamingReplica(SERVER.dataSource(PRIMARY), SERVER.port(), "behind", Duration.ofSeconds(3));
    }

    @AfterAll
    static void stopReplica() throws Exception {
        replica.close();
    }

    /** Reads go to a replica. */
    @Configuration(proxyBeanMethods = false)
    static class SplitsStatements {
        @Bean(defaultCandidate = false)
        @ExactlyOnceDataSource
        DataSource claims() {
            return new SplittingDataSource(SERVER.dataSource(PRIMARY), SERVER.dataSource(onReplica()));
        }
    }

    @Test
    void checkOnAReplicaLetsTheSecondPaymentThrough() {
        var reads = new JdbcTemplate(SERVER.dataSource(onReplica()));
        var writes = new JdbcTemplate(SERVER.dataSource(PRIMARY));

        for (int attempt = 1; attempt <= 2; attempt++) {
            if (reads.queryForList("SELECT payment FROM processed WHERE payment = 'p1'")
                    .isEmpty()) {
                charges++;
                Assertions.catchThrowableOfType(
                        DuplicateKeyException.class, () -> writes.update("INSERT INTO processed VALUES ('p1')"));
            }
        }

        assertThat(charges).isEqualTo(2);
    }

    @Test
    void applicationsConnectionDetailsChargeOnce() {
        assertChargedOnce(application("spring.datasource.url=" + PRIMARY));
    }

    @Test
    void urlForClaimsChargesOnceAlthoughTheApplicationReadsFromTheReplica() {
        assertChargedOnce(application(
                "spring.datasource.url=" + onReplica(),
                "exactly-once.datasource.url=" + PRIMARY,
                "exactly-once.datasource.username=" + SERVER.username(),
                "exactly-once.datasource.password=" + SERVER.password()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?targetServerType=primary", "?targetServerType=preferSecondary"})
    void severalHostsOfWhichTheReplicaIsFirstChargeOnce(String parameters) {
        assertChargedOnce(application("spring.datasource.url=" + bothHosts() + parameters));
    }

    @Test
    void proxyThatSplitsStatementsIsRefused() {
        assertRefused(
                application("spring.datasource.url=" + PRIMARY).withUserConfiguration(SplitsStatements.class),
                "server 127.0.0.1:" + replica.port());
    }

    private void assertChargedOnce(ApplicationContextRunner application) {
        application.run(context -> {
            context.getBean(ClaimDatabase.class).requireReady();
            ClaimStore store = context.getBean(ClaimStore.class);
            ClaimKey payment = new ClaimKey("payments", UUID.randomUUID().toString());

            assertThat(pay(store, payment)).isInstanceOf(Acquired.class);
            assertThat(pay(store, payment)).isEqualTo(new AlreadyCompleted("\"charged\""));
            assertThat(charges).isEqualTo(1);
        });
    }

    private ClaimOutcome pay(ClaimStore store, ClaimKey payment) {
        var request = new ClaimRequest(payment, UUID.randomUUID(), "worker", Duration.ofMinutes(1));
        ClaimOutcome outcome = store.claim(List.of(request)).get(0);
        if (outcome instanceof Acquired) {
            charges++;
            assertThat(store.resolve(List.of(new ClaimResolution.Completed(request.id(), "\"charged\"")))
                            .granted())
                    .extracting(ClaimId::key)
                    .containsExactly(payment);
        }
        return outcome;
    }

    private static void assertRefused(ApplicationContextRunner application, String... problem) {
        application.run(context -> {
            assertThat(context).hasNotFailed();
            Throwable refused = Assertions.catchThrowable(
                    () -> context.getBean(ClaimDatabase.class).requireReady());
            assertThat(refused).isInstanceOf(ClaimDatabaseException.class).hasMessageContainingAll(problem);
        });
    }

    private static ApplicationContextRunner application(String... properties) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class,
                        ExactlyOnceAutoConfiguration.class,
                        ExactlyOnceObservabilityAutoConfiguration.class))
                .withPropertyValues(
                        "spring.datasource.username=" + SERVER.username(),
                        "spring.datasource.password=" + SERVER.password(),
                        "exactly-once.claim.initialize-schema=always")
                .withPropertyValues(properties);
    }

    private static String onReplica() {
        return PRIMARY.replace(":" + SERVER.port() + "/", ":" + replica.port() + "/");
    }

    private static String bothHosts() {
        return onReplica().replace("/test_", ",127.0.0.1:" + SERVER.port() + "/test_");
    }
}
