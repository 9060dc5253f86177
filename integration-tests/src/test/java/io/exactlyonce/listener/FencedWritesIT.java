package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/**
 * A handler with external effects that also writes to the database. The handler fences that transaction with its claim.
 */
@UsesSqs
class FencedWritesIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class Shop {
        private final JdbcTemplate jdbc;
        private final List<String> outcomes = new CopyOnWriteArrayList<>();

        Shop(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        List<String> outcomes() {
            return outcomes;
        }

        @Transactional
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order")
        void handle(String order, Claim claim) {
            jdbc.update("INSERT INTO sale VALUES (?)", order);
            try {
                claim.fence();
                outcomes.add(order + " held");
            } catch (ClaimLostException lost) {
                outcomes.add(order + " lost");
                throw lost;
            }
        }
    }

    /** Another worker has taken the key over by the time the handler begins. */
    static class Robbed extends Shop {
        private final String database;

        Robbed(JdbcTemplate jdbc, Environment environment) {
            super(jdbc);
            this.database = environment.getRequiredProperty("spring.datasource.url");
        }

        @Override
        @Transactional
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order")
        void handle(String order, Claim claim) {
            JdbcClient.create(EmbeddedDatabase.shared().dataSource(database))
                    .sql("UPDATE exactly_once_claim SET claim_id = ?, lease_until = lease_until + interval '1 hour'")
                    .param(UUID.randomUUID())
                    .update();
            super.handle(order, claim);
        }
    }

    private final String queue = SQS.createQueue(30);
    private final String database = EmbeddedDatabase.shared().createDatabase();

    private TestApplication start(Class<? extends Shop> listener) {
        JdbcClient.create(EmbeddedDatabase.shared().dataSource(database))
                .sql("CREATE TABLE sale (order_id text)")
                .update();
        return TestApplication.start(database, Map.of("test.queue", queue), listener);
    }

    private static int sales(TestApplication application) {
        return application
                .database()
                .sql("SELECT count(*) FROM sale")
                .query(Integer.class)
                .single();
    }

    @Test
    void writesOfAZombieAreRolledBack() {
        try (TestApplication application = start(Robbed.class)) {
            SQS.send(queue, "o1");
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> application.bean(Robbed.class).outcomes().size() == 1);

            await().during(Duration.ofMillis(300)).until(() -> sales(application) == 0);
            assertThat(application.bean(Robbed.class).outcomes()).containsExactly("o1 lost");
            assertThat(application.claims("HELD")).isEqualTo(1);
            assertThat(SQS.size(queue)).isEqualTo(1);
        }
    }
}
