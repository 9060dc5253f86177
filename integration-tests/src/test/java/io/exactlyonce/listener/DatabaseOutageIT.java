package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.DatabaseRole;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Failures of the application's connections, which handlers with effects in the database use, while the claims' pool
 * works for other listeners; and failures of both.
 */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class DatabaseOutageIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final EmbeddedDatabase DATABASE = EmbeddedDatabase.shared();

    private static final int WINDOW_SECONDS = 2;
    private static final int MOST_RECEIVES = 3;
    private static final List<String> SALES = List.of("s1", "s2", "s3", "s4", "s5");

    /**
     * Long enough for a message that is returned with each failure to use its receives up, one in each visibility
     * timeout.
     */
    private static final Duration OUTAGE = Duration.ofSeconds(7);

    /** The failure of the application's own connections. */
    enum Fault {
        /** The pooler is down, or its user is shut out. */
        NO_CONNECTION(DatabaseRole::shutOut),
        /** The connections are to a server that was demoted: SQLSTATE 25006. */
        READ_ONLY(DatabaseRole::demote);

        private final Consumer<DatabaseRole> event;

        Fault(Consumer<DatabaseRole> event) {
            this.event = event;
        }

        void begin(DatabaseRole role) {
            event.accept(role);
        }
    }

    static class Shop {
        private final JdbcTemplate jdbc;
        private final AtomicInteger selling = new AtomicInteger();
        private final CountDownLatch finish = new CountDownLatch(1);

        Shop(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        void finish() {
            finish.countDown();
        }

        int selling() {
            return selling.get();
        }

        @ExactlyOnceListener(id = "sales", queueNames = "${test.sales}", key = "#sale", effects = Effects.DATABASE)
        void sell(String sale) throws InterruptedException {
            jdbc.update("INSERT INTO sale (name) VALUES (?)", sale);
            selling.incrementAndGet();
            finish.await();
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.orders}", key = "#order")
        void order(String order) {}
    }

    private final String sales = SQS.createQueue(WINDOW_SECONDS);
    private final String salesGivenUp = SQS.addDeadLetterQueue(sales, MOST_RECEIVES);
    private final String orders = SQS.createQueue(WINDOW_SECONDS);
    private final String database = DATABASE.createDatabase();
    private final DatabaseRole application = DatabaseRole.create(database);
    private final DatabaseRole claims = DatabaseRole.create(database);

    private TestApplication start(int connections) {
        new JdbcTemplate(DATABASE.dataSource(database)).execute("CREATE TABLE sale (name text)");
        Map<String, String> properties = new HashMap<>();
        properties.put("test.sales", sales);
        properties.put("test.orders", orders);
        properties.put("spring.datasource.username", application.name());
        properties.put("spring.datasource.hikari.maximum-pool-size", String.valueOf(connections));
        properties.put("spring.datasource.hikari.connection-timeout", "500");
        properties.put("exactly-once.datasource.url", database);
        properties.put("exactly-once.datasource.username", claims.name());
        properties.put("exactly-once.datasource.password", DATABASE.password());
        properties.put("exactly-once.datasource.connection-timeout", "1s");
        properties.put("exactly-once.retry.initial-delay", "1s");
        properties.put("exactly-once.retry.max-delay", "1s");
        return TestApplication.start(database, properties, Shop.class, SqsRequests.class);
    }

    private static boolean isPaused(TestApplication application, String listener) {
        return application.gauge("exactly.once.listener.paused", "listener", listener) > 0;
    }

    private static double waiting(TestApplication application) {
        return application.gauge("exactly.once.waiting", "listener", "sales");
    }

    private void assertOrderIsHandledMeanwhile(TestApplication application, String order) {
        SQS.send(orders, order);
        SQS.awaitEmpty(orders);
        assertThat(isPaused(application, "orders")).isFalse();
    }

    private void assertAllSoldOnce(TestApplication application, List<String> expected) {
        SQS.awaitEmpty(sales);
        assertThat(application.texts("SELECT name FROM sale")).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(SQS.size(salesGivenUp)).isZero();
        await().atMost(Duration.ofSeconds(10)).until(() -> !isPaused(application, "sales"));
    }

    /** No message is received twice during the outage: received messages wait, and the others are not polled. */
    @ParameterizedTest
    @EnumSource(Fault.class)
    void applicationsOwnWayFails(Fault fault, CapturedOutput output) {
        try (TestApplication running = start(10)) {
            running.bean(Shop.class).finish();
            SqsRequests requests = running.bean(SqsRequests.class);
            fault.begin(application);
            SALES.forEach(sale -> SQS.send(sales, sale));

            await().atMost(Duration.ofSeconds(20)).until(() -> isPaused(running, "sales"));
            assertOrderIsHandledMeanwhile(running, "o1");
            await().during(OUTAGE)
                    .atMost(OUTAGE.plusSeconds(10))
                    .until(() -> SQS.size(salesGivenUp) == 0 && isPaused(running, "sales"));
            assertOrderIsHandledMeanwhile(running, "o2");
            assertThat(requests.mostReceives()).as("of one message").isEqualTo(1);

            application.restore();
            application.endSessions();
            assertAllSoldOnce(running, SALES);
            assertThat(output.getAll())
                    .containsPattern(
                            "'sales' on queue '.*' is paused: .* got no answer through transaction manager 'transactionManager'")
                    .doesNotContain("listener 'orders' on queue '%s' is paused".formatted(orders));
        }
    }

    /** Messages in flight wait, too: none is received a second time before the database is back. */
    @ParameterizedTest
    @EnumSource(Fault.class)
    void handlersLoseTheirConnections(Fault fault) {
        try (TestApplication running = start(10)) {
            SqsRequests requests = running.bean(SqsRequests.class);
            SALES.forEach(sale -> SQS.send(sales, sale));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> running.bean(Shop.class).selling() == SALES.size());

            fault.begin(application);
            running.bean(Shop.class).finish();
            await().atMost(Duration.ofSeconds(10)).until(() -> waiting(running) == SALES.size());
            await().during(OUTAGE).atMost(OUTAGE.plusSeconds(10)).until(() -> SQS.size(salesGivenUp) == 0);
            assertThat(requests.mostReceives()).as("of one message").isEqualTo(1);

            application.restore();
            application.endSessions();
            assertAllSoldOnce(running, SALES);
        }
    }

    /** If handlers hold all connections, messages that find none must not use up their receives. */
    @Test
    void slowHandlersUseTheApplicationsPoolUp() {
        List<String> twelve =
                IntStream.range(0, 12).mapToObj(number -> "s" + number).toList();
        try (TestApplication running = start(1)) {
            SqsRequests requests = running.bean(SqsRequests.class);
            twelve.forEach(sale -> SQS.send(sales, sale));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> !requests.received().isEmpty());

            await().during(OUTAGE).atMost(OUTAGE.plusSeconds(10)).until(() -> SQS.size(salesGivenUp) == 0);
            assertOrderIsHandledMeanwhile(running, "o1");
            assertThat(requests.mostReceives()).as("of one message").isEqualTo(1);
            running.bean(Shop.class).finish();

            assertAllSoldOnce(running, twelve);
        }
    }

    @Test
    void claimsAndHandlersLoseTheirDatabaseTogether() {
        try (TestApplication running = start(10)) {
            running.bean(Shop.class).finish();
            SqsRequests requests = running.bean(SqsRequests.class);
            DATABASE.disconnect(database);
            try {
                SALES.forEach(sale -> SQS.send(sales, sale));
                await().atMost(Duration.ofSeconds(20)).until(() -> isPaused(running, "sales"));
                await().during(OUTAGE).atMost(OUTAGE.plusSeconds(10)).until(() -> isPaused(running, "sales"));
                assertThat(requests.mostReceives()).as("of one message").isEqualTo(1);
            } finally {
                DATABASE.reconnect(database);
            }

            assertAllSoldOnce(running, SALES);
        }
    }

    /** The claims' own pool fails alone: handlers whose claims are in the application's transactions go on. */
    @Test
    void claimsOwnPoolFailsAlone() {
        try (TestApplication running = start(10)) {
            running.bean(Shop.class).finish();
            claims.shutOut();
            try {
                List.of("o1", "o2", "o3").forEach(order -> SQS.send(orders, order));
                await().atMost(Duration.ofSeconds(20)).until(() -> isPaused(running, "orders"));
                SALES.forEach(sale -> SQS.send(sales, sale));

                assertAllSoldOnce(running, SALES);
                assertThat(isPaused(running, "orders")).isTrue();
            } finally {
                claims.restore();
            }
            SQS.awaitEmpty(orders);
        }
    }
}
