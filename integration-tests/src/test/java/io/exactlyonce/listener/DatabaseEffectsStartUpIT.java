package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** Transactions that are not the claims' stop the start; messages stay where they are. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class DatabaseEffectsStartUpIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class Unnamed {
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        void handle(String order) {}
    }

    static class Apart {
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        void handle(String order) {}
    }

    static class Named {
        private final JdbcTemplate jdbc;

        Named(DataSource dataSource) {
            this.jdbc = new JdbcTemplate(dataSource);
        }

        @ExactlyOnceListener(
                id = "sales",
                queueNames = "${test.queue}",
                key = "#order",
                effects = Effects.DATABASE,
                transactionManager = "${test.manager}")
        void handle(String order) {
            jdbc.update("INSERT INTO sale VALUES (?)", order);
        }
    }

    static class External {
        @Transactional
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoManagers {
        @Bean
        JdbcTransactionManager here(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        JdbcTransactionManager elsewhere(@Value("${test.elsewhere}") String url) {
            return new JdbcTransactionManager(EmbeddedDatabase.shared().dataSource(url));
        }
    }

    /** Its transactions are of the right database, but not the ones that the application's DataSource joins. */
    @Configuration(proxyBeanMethods = false)
    static class ManagerOfAnotherObject {
        @Bean
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(new DelegatingDataSource(dataSource));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE, proxyTargetClass = true)
    static class TransactionsFirst {}

    private final String queue = SQS.createQueue(30);
    private final String database = EmbeddedDatabase.shared().createDatabase();
    private final String elsewhere = EmbeddedDatabase.shared().createDatabase();

    private TestApplication start(Map<String, String> properties, Class<?>... beans) {
        var all = new HashMap<>(Map.of("test.queue", queue, "test.elsewhere", elsewhere));
        all.putAll(properties);
        return TestApplication.start(database, all, beans);
    }

    private void assertStopped(
            CapturedOutput output, String[] explanation, Map<String, String> properties, Class<?>... beans) {
        SQS.send(queue, "o1");
        assertThatThrownBy(() -> start(properties, beans).close()).isInstanceOf(Exception.class);
        assertThat(output).contains("APPLICATION FAILED TO START").contains(explanation);
        assertThat(SQS.size(queue)).isEqualTo(1);
    }

    private static String[] explaining(String... texts) {
        return texts;
    }

    @Test
    void severalManagersAndNoneNamed(CapturedOutput output) {
        assertStopped(
                output,
                explaining("expected single matching bean but found 2", "transactionManager = \"...\""),
                Map.of(),
                Unnamed.class,
                TwoManagers.class);
    }

    @Test
    void managerOfAnotherDatabase(CapturedOutput output) {
        assertStopped(
                output,
                explaining(
                        "transactions of JdbcTransactionManager are of database "
                                + elsewhere.substring(elsewhere.lastIndexOf('/') + 1),
                        "but claims are kept in table exactly_once_claim of database "
                                + database.substring(database.lastIndexOf('/') + 1)),
                Map.of("test.manager", "elsewhere"),
                Named.class,
                TwoManagers.class);
    }

    @Test
    void managerThatIsNamedAmongSeveralIsUsed() {
        try (TestApplication application = start(Map.of("test.manager", "here"), Named.class, TwoManagers.class)) {
            application.database().sql("CREATE TABLE sale (order_id text)").update();
            SQS.send(queue, "o1");

            await().atMost(Duration.ofSeconds(20)).until(() -> SQS.size(queue) == 0);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application
                            .database()
                            .sql("SELECT order_id FROM sale")
                            .query(String.class)
                            .list())
                    .containsExactly("o1");
        }
    }

    @Test
    void managerWhoseTransactionsTheApplicationsDataSourceDoesNotJoin(CapturedOutput output) {
        assertStopped(
                output,
                explaining("takes no part in the transactions of JdbcTransactionManager", "same DataSource bean"),
                Map.of(),
                Unnamed.class,
                ManagerOfAnotherObject.class);
    }

    @Test
    void noManager(CapturedOutput output) {
        assertStopped(
                output,
                explaining(
                        "needs a bean of type org.springframework.transaction.PlatformTransactionManager",
                        "declare a JdbcTransactionManager"),
                Map.of(
                        "spring.autoconfigure.exclude",
                        "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
                                + "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration,"
                                + "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration"),
                Unnamed.class);
    }

    @Test
    void handlerThatLeavesTheTransaction(CapturedOutput output) {
        assertStopped(
                output,
                explaining("propagation REQUIRES_NEW leaves the transaction of the claim", "use propagation REQUIRED"),
                Map.of(),
                Apart.class);
    }

    @Test
    void transactionsThatBeginBeforeTheClaim(CapturedOutput output) {
        assertStopped(
                output,
                explaining("is begun before its key is claimed", "give @EnableTransactionManagement an order above"),
                Map.of(),
                External.class,
                TransactionsFirst.class);
    }
}
