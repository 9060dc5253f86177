package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Listeners whose claim table differs from the script's table. One table has partitions, where completed and failed
 * keys share row places of different partitions. The other table has another name.
 */
@UsesSqs
class OtherClaimTableIT {

    private static final int WINDOW_SECONDS = 3;
    private static final int KEYS = 40;
    private static final SqsServer SQS = SqsServer.shared();

    record Order(int number) {}

    /** Each fifth order fails at its first attempt, before its effect. */
    static class Shop {

        private final Set<Integer> failed = ConcurrentHashMap.newKeySet();
        private final JdbcTemplate jdbc;

        Shop(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @ExactlyOnceListener(id = "external", queueNames = "${test.external}", key = "#order.number")
        void external(Order order) {
            sell("external", order.number());
        }

        @ExactlyOnceListener(
                id = "database",
                queueNames = "${test.database}",
                key = "#order.number",
                effects = Effects.DATABASE)
        void database(Order order) {
            sell("database", order.number());
        }

        void sell(String effects, int order) {
            if (order % 5 == 0 && failed.add(order)) {
                throw new IllegalStateException("the printer is out of paper");
            }
            jdbc.update("INSERT INTO sale VALUES (?, ?)", effects, order);
        }
    }

    private final String url = EmbeddedDatabase.shared().createDatabase();
    private final DataSource database = EmbeddedDatabase.shared().dataSource(url);
    private final JdbcTemplate jdbc = new JdbcTemplate(database);

    @Test
    void eachKeyOfAPartitionedTableHasItsEffectOnce() {
        new ClaimSchema(TestDatabase.table(database)).create();
        TestDatabase.partition(jdbc);

        sellAll("exactly_once_claim");

        assertThat(jdbc.queryForList("SELECT DISTINCT tableoid FROM exactly_once_claim"))
                .as("partitions")
                .hasSize(4);
    }

    @Test
    void eachKeyOfATableOfAnotherNameHasItsEffectOnce() {
        jdbc.execute("CREATE SCHEMA shop");

        sellAll("shop.claims");

        assertThat(jdbc.queryForList("SELECT 1 WHERE to_regclass('exactly_once_claim') IS NOT NULL"))
                .isEmpty();
    }

    private void sellAll(String table) {
        jdbc.execute("CREATE TABLE sale (effects text, number int)");
        Map<String, String> queues =
                Map.of("external", SQS.createQueue(WINDOW_SECONDS), "database", SQS.createQueue(WINDOW_SECONDS));
        Map<String, String> properties = Map.of(
                "test.external",
                queues.get("external"),
                "test.database",
                queues.get("database"),
                "exactly-once.claim.table-name",
                table,
                "exactly-once.audit.mode",
                "off");
        try (TestApplication application = TestApplication.start(url, properties, Shop.class)) {
            queues.values()
                    .forEach(queue -> IntStream.rangeClosed(1, KEYS)
                            .forEach(number -> SQS.send(queue, "{\"number\":%d}".formatted(number))));

            queues.forEach((effects, queue) -> {
                SQS.awaitEmpty(queue);
                assertThat(application.texts("SELECT number::text FROM sale WHERE effects = '%s'".formatted(effects)))
                        .as(effects)
                        .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, KEYS)
                                .mapToObj(String::valueOf)
                                .toList());
            });
            assertThat(application.texts("SELECT count(*)::text FROM %s WHERE status = 'COMPLETED'".formatted(table)))
                    .containsExactly(String.valueOf(2 * KEYS));
        }
    }
}
