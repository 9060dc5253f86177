package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
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
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Startup fails if transactions use another database than claims. The messages stay in their queue. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class DatabaseEffectsStartUpIT {

    private static final SqsServer SQS = SqsServer.shared();

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

            SQS.awaitEmpty(queue);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.texts("SELECT order_id FROM sale")).containsExactly("o1");
        }
    }
}
