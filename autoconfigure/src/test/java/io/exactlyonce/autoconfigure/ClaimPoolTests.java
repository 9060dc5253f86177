package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.audit.Finding;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.audit.ScriptedSqs;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.primary.ExactlyOnceDataSource;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.primary.PrimaryProbe;
import io.exactlyonce.primary.PrimaryUnavailableException;
import io.exactlyonce.property.InvalidPropertyException;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.env.MockEnvironment;

/** Which database is asked, told by the failure to reach it. */
class ClaimPoolTests {

    private static final String NOWHERE = "jdbc:postgresql://127.0.0.1:1/";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataSourceAutoConfiguration.class, ExactlyOnceAutoConfiguration.class))
            .withPropertyValues("spring.datasource.url=" + NOWHERE + "application");

    @Configuration(proxyBeanMethods = false)
    static class Marked {
        @Bean(defaultCandidate = false)
        @ExactlyOnceDataSource
        HikariDataSource claims() {
            var pool = new HikariDataSource();
            pool.setJdbcUrl(NOWHERE + "marked");
            pool.setMaximumPoolSize(7);
            return pool;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ServiceConnection {
        @Bean
        JdbcConnectionDetails details() {
            return detailsOf(NOWHERE + "service");
        }
    }

    private static JdbcConnectionDetails detailsOf(String url) {
        return new JdbcConnectionDetails() {
            @Override
            public String getUsername() {
                return "service";
            }

            @Override
            public String getPassword() {
                return "secret";
            }

            @Override
            public String getJdbcUrl() {
                return url;
            }
        };
    }

    @Test
    void applicationsDatabaseIsTheDefault() {
        runner.run(
                context -> assertThat(whatIsAsked(context)).contains("127.0.0.1:1/application", "spring.datasource"));
    }

    @Test
    void serviceConnectionComesBeforeProperties() {
        runner.withUserConfiguration(ServiceConnection.class)
                .run(context -> assertThat(whatIsAsked(context)).contains("127.0.0.1:1/service"));
    }

    @Test
    void urlForClaimsComesBeforeTheApplications() {
        runner.withUserConfiguration(ServiceConnection.class)
                .withPropertyValues("exactly-once.datasource.url=" + NOWHERE + "own")
                .run(context -> assertThat(whatIsAsked(context))
                        .contains("127.0.0.1:1/own", "exactly-once.datasource.url, .username and .password"));
    }

    /** What the URL says counts, as it does for the driver. */
    @Test
    void whatTheApplicationsPoolDemandsOfItsDriverIsDemandedForClaims() {
        String prefix = "spring.datasource.hikari.data-source-properties.";
        var environment = new MockEnvironment()
                .withProperty(prefix + "sslmode", "verify-full")
                .withProperty(prefix + "sslrootcert", "/etc/our authority.crt")
                .withProperty(prefix + "currentSchema", "shop");

        assertThat(ClaimPool.application(detailsOf(NOWHERE + "service"), null, environment)
                        .url())
                .isEqualTo(NOWHERE
                        + "service?currentSchema=shop&sslmode=verify-full&sslrootcert=%2Fetc%2Four+authority.crt");
        assertThat(ClaimPool.application(detailsOf(NOWHERE + "service?a=b&sslmode=require"), null, environment)
                        .url())
                .isEqualTo(NOWHERE
                        + "service?a=b&sslmode=require&currentSchema=shop&sslrootcert=%2Fetc%2Four+authority.crt");
        assertThat(ClaimPool.application(detailsOf(NOWHERE + "service"), null, new MockEnvironment())
                        .url())
                .isEqualTo(NOWHERE + "service");
    }

    @Test
    void driversOwnDataSourceHasNoUrlForClaims() {
        String setting = "spring.datasource.hikari.data-source-class-name";
        ApplicationContextRunner ofDriver =
                runner.withPropertyValues(setting + "=org.postgresql.ds.PGSimpleDataSource");

        ofDriver.run(context -> assertThat(context)
                .getFailure()
                .rootCause()
                .isInstanceOf(InvalidPropertyException.class)
                .hasMessage(setting + " (org.postgresql.ds.PGSimpleDataSource) has no URL that claims could take; set"
                        + " exactly-once.datasource.url, .username and .password for claims"));
        ofDriver.withPropertyValues("exactly-once.datasource.url=" + NOWHERE + "own")
                .run(context -> assertThat(whatIsAsked(context)).contains("127.0.0.1:1/own"));
    }

    @Test
    void markedDataSourceComesFirst() {
        runner.withUserConfiguration(Marked.class)
                .withPropertyValues("exactly-once.datasource.url=" + NOWHERE + "own")
                .run(context -> {
                    assertThat(whatIsAsked(context)).contains("the DataSource marked @ExactlyOnceDataSource");
                    assertThat(claims(context).maximumPoolSize()).isEqualTo(7);
                    assertThat(claims(context).isWrapperFor(HikariDataSource.class))
                            .isTrue();
                });
    }

    @Test
    void leaseMustOutlastTheWaitForAConnectionOfAMarkedPool() {
        AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();
        runner.withUserConfiguration(Marked.class)
                .withInitializer(started::set)
                .withPropertyValues("exactly-once.claim.lease=30s")
                .run(context -> {
                    FailureAnalysis analysis =
                            FailureReport.of(Objects.requireNonNull(context.getStartupFailure()), started.get());
                    assertThat(analysis.getDescription())
                            .contains(
                                    "exactly-once.claim.lease (30s) must be longer than",
                                    "marked @ExactlyOnceDataSource (30s)");
                    assertThat(analysis.getAction()).contains("connectionTimeout", "about 3s");
                });
        runner.withUserConfiguration(Marked.class)
                .withPropertyValues("exactly-once.claim.lease=31s")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void windowThatIsTheLeaseIsHeldAgainstTheWaitForAConnectionOfAMarkedPoolOnly() {
        runner.withUserConfiguration(Marked.class)
                .run(context -> assertThat(rulesThatFindSomething(context)).contains("connection-timeout"));
        runner.run(context -> assertThat(rulesThatFindSomething(context)).doesNotContain("connection-timeout"));
    }

    private static List<String> rulesThatFindSomething(ApplicationContext context) {
        VisibilityWindow window = VisibilityWindow.ofSeconds(2);
        QueueAudit audit = context.getBean(QueueAudit.class);
        audit.subscribed(new Subscription(
                "fulfilment", "orders", window, new SqsQueueVisibility(new ScriptedSqs(), ScriptedSqs.ORDERS, window)));
        audit.tick();
        return audit.reports().get(0).findings().stream().map(Finding::rule).toList();
    }

    @Test
    void markedDataSourceLeavesTheApplicationItsOwn() {
        runner.withUserConfiguration(Marked.class)
                .run(context -> assertThat(
                                context.getBeanProvider(DataSource.class).getObject())
                        .isNotSameAs(context.getBean("claims"))
                        .isNotSameAs(claims(context)));
    }

    @Test
    void databaseForClaimsAloneIsEnough() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ExactlyOnceAutoConfiguration.class))
                .withPropertyValues("exactly-once.datasource.url=" + NOWHERE + "own")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(ClaimStore.class));
    }

    private static PrimaryPinnedDataSource claims(ApplicationContext context) {
        return context.getBean(PrimaryPinnedDataSource.class);
    }

    private static String whatIsAsked(ApplicationContext context) throws SQLException {
        PrimaryPinnedDataSource claims = claims(context);
        claims.unwrap(HikariDataSource.class).setConnectionTimeout(250);
        Throwable failure = Assertions.catchThrowable(() -> new PrimaryProbe(claims).verify());
        assertThat(failure).isInstanceOf(PrimaryUnavailableException.class);
        return failure.getMessage();
    }
}
