package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.ExactlyOnceDataSource;
import io.exactlyonce.audit.Finding;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.audit.ScriptedSqs;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.PrimaryCheck;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The database that claims use. The message of a failed connection names it. */
class ClaimTargetTests {

    private static final String NOWHERE = "jdbc:postgresql://127.0.0.1:1/";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    ExactlyOnceAutoConfiguration.class,
                    ExactlyOnceObservabilityAutoConfiguration.class))
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
    void urlForClaimsComesBeforeAServiceConnectionAndThatBeforeTheApplicationsProperties() {
        runner.run(
                context -> assertThat(whatIsAsked(context)).contains("127.0.0.1:1/application", "spring.datasource"));
        ApplicationContextRunner connected = runner.withUserConfiguration(ServiceConnection.class);
        connected.run(context -> assertThat(whatIsAsked(context)).contains("127.0.0.1:1/service"));
        connected
                .withPropertyValues("exactly-once.datasource.url=" + NOWHERE + "own")
                .run(context -> assertThat(whatIsAsked(context))
                        .contains("127.0.0.1:1/own", "exactly-once.datasource.url, .username and .password"));
    }

    @Test
    void settingsOfTheDriversOwnDataSourceAreThoseOfClaims() {
        String setting = "spring.datasource.hikari.data-source-class-name";
        String property = "spring.datasource.hikari.data-source-properties.";
        runner.withPropertyValues(
                        setting + "=org.postgresql.ds.PGSimpleDataSource",
                        property + "url=" + NOWHERE + "drivers?socketTimeout=9",
                        property + "currentSchema=shop")
                .run(context -> assertThat(whatIsAsked(context)).contains("127.0.0.1:1/drivers"));
    }

    @Test
    void markedDataSourceComesFirst() {
        runner.withUserConfiguration(Marked.class)
                .withPropertyValues("exactly-once.datasource.url=" + NOWHERE + "own")
                .run(context -> {
                    assertThat(whatIsAsked(context)).contains("the DataSource marked @ExactlyOnceDataSource");
                    assertThat(claims(context).maximumPoolSize()).isEqualTo(7);
                    assertThat(claims(context).dataSource()).isInstanceOf(HikariDataSource.class);
                });
    }

    @Test
    void leaseMustOutlastTheWaitForAConnectionOfAMarkedPool() {
        ApplicationContextRunner marked = runner.withUserConfiguration(Marked.class);

        FailureAnalysis analysis = FailureReport.of(marked.withPropertyValues("exactly-once.claim.lease=30s"));

        assertThat(analysis.getDescription())
                .contains("exactly-once.claim.lease (30s) must be longer than", "marked @ExactlyOnceDataSource (30s)");
        assertThat(analysis.getAction()).contains("connectionTimeout", "about 3s");
        marked.withPropertyValues("exactly-once.claim.lease=31s")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void visibilityTimeoutThatIsTheLeaseIsComparedWithTheWaitForAConnectionOfAMarkedPoolOnly() {
        runner.withUserConfiguration(Marked.class)
                .run(context -> assertThat(rulesThatFindSomething(context)).contains("connection-timeout"));
        runner.run(context -> assertThat(rulesThatFindSomething(context)).doesNotContain("connection-timeout"));
    }

    private static List<String> rulesThatFindSomething(ApplicationContext context) {
        VisibilityWindow window = VisibilityWindow.ofSeconds(2);
        QueueAudit audit = context.getBean(QueueAudit.class);
        audit.subscribed(new Subscription(
                "fulfilment", "orders", window, new SqsQueue(new ScriptedSqs(), ScriptedSqs.ORDERS, window)));
        audit.tick();
        return audit.reports().get(0).findings().stream().map(Finding::rule).toList();
    }

    @Test
    void markedDataSourceLeavesTheApplicationItsOwn() {
        runner.withUserConfiguration(Marked.class)
                .run(context -> assertThat(
                                context.getBeanProvider(DataSource.class).getObject())
                        .isNotSameAs(context.getBean("claims"))
                        .isNotSameAs(claims(context).dataSource()));
    }

    @Test
    void databaseForClaimsAloneIsEnough() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class, ExactlyOnceObservabilityAutoConfiguration.class))
                .withPropertyValues("exactly-once.datasource.url=" + NOWHERE + "own")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(ClaimStore.class));
    }

    private static ClaimPool claims(ApplicationContext context) {
        return context.getBean(ClaimPool.class);
    }

    private static String whatIsAsked(ApplicationContext context) throws SQLException {
        ClaimPool claims = claims(context);
        ((HikariDataSource) claims.dataSource()).setConnectionTimeout(250);
        Throwable failure = Assertions.catchThrowable(() -> new PrimaryCheck(claims).verify());
        assertThat(failure).isInstanceOf(ClaimDatabaseException.class);
        return failure.getMessage();
    }
}
