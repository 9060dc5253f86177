package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.Table;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/** Handlers that write to the claim database: their writes and their completion are one transaction. */
@UsesSqs
class DatabaseEffectsIT {

    private static final int WINDOW_SECONDS = 2;
    private static final SqsServer SQS = SqsServer.shared();

    /** Fails after its writes, as often as the test sets. */
    abstract static class Shop {
        private final List<Integer> attempts = new CopyOnWriteArrayList<>();
        private volatile int failures;

        List<Integer> attempts() {
            return attempts;
        }

        void failOnce() {
            fail(1);
        }

        void fail(int times) {
            failures = times;
        }

        String sold(Claim claim) {
            claim.ensureHeld();
            claim.fence();
            attempts.add(claim.attempt());
            if (attempts.size() <= failures) {
                throw new IllegalStateException("the printer is out of paper");
            }
            return "sold";
        }
    }

    static class WithJdbcTemplate extends Shop {
        private final JdbcTemplate jdbc;

        WithJdbcTemplate(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        String handle(String order, Claim claim) {
            jdbc.update("INSERT INTO sale (order_id) VALUES (?)", order);
            return sold(claim);
        }
    }

    @Entity(name = "Sale")
    @Table(name = "sale")
    static class Sale {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        private Long id;

        @Column(name = "order_id")
        private String orderId;

        protected Sale() {}

        Sale(String orderId) {
            this.orderId = orderId;
        }

        @Override
        public String toString() {
            return id + " " + orderId;
        }
    }

    /** The entity is changed after it was written, so that the commit has something to flush. */
    @EntityScan(basePackageClasses = DatabaseEffectsIT.class)
    static class WithJpa extends Shop {
        @PersistenceContext
        private EntityManager entities;

        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        String handle(String order, Claim claim) {
            Sale sale = new Sale("draft of " + order);
            entities.persist(sale);
            sale.orderId = order;
            return sold(claim);
        }
    }

    /** A shop whose first attempt hangs after its writes, until it is interrupted. */
    static class Hanging extends Shop {
        private final JdbcClient jdbc;
        private final CountDownLatch never = new CountDownLatch(1);

        Hanging(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @ExactlyOnceListener(
                id = "sales",
                queueNames = "${test.queue}",
                key = "#order",
                effects = Effects.DATABASE,
                timeout = "1s")
        String handle(String order, Claim claim) throws InterruptedException {
            jdbc.sql("INSERT INTO sale (order_id) VALUES (?)").param(order).update();
            String sold = sold(claim);
            if (attempts().size() == 1) {
                never.await();
            }
            return sold;
        }
    }

    /** Writes for each of its messages, and then fails one of them, once. */
    static class Batches extends Shop {
        private final JdbcTemplate jdbc;
        private final List<List<String>> calls = new CopyOnWriteArrayList<>();

        Batches(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        List<List<String>> calls() {
            return calls;
        }

        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#payload", effects = Effects.DATABASE)
        BatchResult handle(List<String> orders, List<Claim> claims) {
            calls.add(List.copyOf(orders));
            claims.forEach(Claim::fence);
            orders.forEach(order -> jdbc.update("INSERT INTO sale (order_id) VALUES (?)", order));
            BatchResult result = BatchResult.allSucceeded();
            if (orders.contains("o3") && attempts().isEmpty()) {
                attempts().add(1);
                result = result.andFailed(
                        orders.indexOf("o3"), new IllegalStateException("the printer is out of paper"));
            }
            return result;
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);
    private final String database = EmbeddedDatabase.shared().createDatabase();

    private TestApplication start(Class<?> listener) {
        return start(database, listener, Map.of());
    }

    private TestApplication start(String database, Class<?> listener, Map<String, String> own) {
        JdbcClient.create(EmbeddedDatabase.shared().dataSource(database))
                .sql("CREATE TABLE sale (id bigint GENERATED ALWAYS AS IDENTITY, order_id text UNIQUE)")
                .update();
        Map<String, String> properties = new HashMap<>(own);
        properties.put("test.queue", queue);
        if (listener == WithJpa.class) {
            properties.put("spring.autoconfigure.exclude", "");
        }
        return TestApplication.start(database, properties, listener);
    }

    private static List<String> sales(TestApplication application) {
        return application.texts("SELECT order_id FROM sale");
    }

    @ParameterizedTest
    @ValueSource(classes = {WithJdbcTemplate.class, WithJpa.class})
    void writesAndCompletionAreCommittedTogetherAndOnce(Class<? extends Shop> listener) {
        try (TestApplication application = start(listener)) {
            SQS.send(queue, "o1");
            SQS.awaitEmpty(queue);
            SQS.send(queue, "o1");
            SQS.awaitEmpty(queue);

            assertThat(sales(application)).containsExactly("o1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.texts("SELECT result FROM exactly_once_claim"))
                    .containsExactly("\"sold\"");
            assertThat(application.outcomes("acquired")).isEqualTo(1);
            assertThat(application.outcomes("already_completed")).isEqualTo(1);
            assertThat(application
                            .bean(MeterRegistry.class)
                            .get("exactly.once.handler")
                            .tag("listener", "sales")
                            .timer()
                            .count())
                    .isEqualTo(1);
        }
    }

    @Test
    void messageOfABatchThatFailsLeavesNothingAndTheOthersAreCommitted() {
        List<String> orders = List.of("o1", "o2", "o3", "o4", "o5");
        orders.forEach(order -> SQS.send(queue, order));
        SQS.send(queue, "o2");

        try (TestApplication application = start(Batches.class)) {
            SQS.awaitEmpty(queue);

            assertThat(sales(application)).containsExactlyInAnyOrderElementsOf(orders);
            assertThat(application.claims("COMPLETED")).isEqualTo(orders.size());
            List<List<String>> calls = application.bean(Batches.class).calls();
            assertThat(calls).filteredOn(call -> call.contains("o3")).hasSize(2);
            assertThat(calls).anyMatch(call -> call.size() > 1);
        }
    }

    /** Trap: the second call got the failed message in place of another one, which was deleted without its effect. */
    @Test
    void messagesOfABatchThatAreHandledAgainAreTheirOwnAlsoBehindACompletedOne() {
        SQS.send(queue, "o1");
        try (TestApplication application = start(Batches.class)) {
            SQS.awaitEmpty(queue);
            assertThat(sales(application)).containsExactly("o1");
        }
        List.of("o1", "o2", "o3", "o4").forEach(order -> SQS.send(queue, order));

        try (TestApplication application =
                TestApplication.start(database, Map.of("test.queue", queue), Batches.class)) {
            SQS.awaitEmpty(queue);

            assertThat(sales(application)).containsExactlyInAnyOrder("o1", "o2", "o3", "o4");
            assertThat(application.claims("COMPLETED")).isEqualTo(4);
            assertThat(application.bean(Batches.class).calls())
                    .containsExactly(List.of("o2", "o3", "o4"), List.of("o2", "o4"), List.of("o3"));
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {WithJdbcTemplate.class, WithJpa.class})
    void failureRollsTheWritesBackAndTheMessageIsRedelivered(Class<? extends Shop> listener) {
        try (TestApplication application = start(listener)) {
            Shop shop = application.bean(listener);
            shop.failOnce();
            SQS.send(queue, "o1");

            SQS.awaitEmpty(queue);

            assertThat(sales(application)).containsExactly("o1");
            assertThat(shop.attempts()).containsExactly(1, 1);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.outcomes("acquired")).isEqualTo(2);
        }
    }

    /**
     * The rolled-back attempts left no record in the database, so the attempt number is the message's receive count.
     */
    @Test
    void lastOfMaxAttemptsLeavesNothingButTheParkedKey() {
        Map<String, String> own = Map.of("exactly-once.listeners.sales.max-attempts", "2");
        try (TestApplication application = start(database, WithJdbcTemplate.class, own)) {
            Shop shop = application.bean(WithJdbcTemplate.class);
            shop.fail(2);
            SQS.send(queue, "o1");

            await().atMost(Duration.ofSeconds(30)).until(() -> application.claims("PARKED") == 1);

            assertThat(shop.attempts()).as("none is recorded").containsExactly(1, 1);
            assertThat(sales(application)).isEmpty();
            ParkedKeys keys = application.bean(ParkedKeys.class);
            ParkedClaim parked = keys.find(queue, "o1").orElseThrow();
            assertThat(parked.reason())
                    .isEqualTo(
                            "maxAttempts (2) is reached: java.lang.IllegalStateException: the printer is out of paper");
            assertThat(parked.isInDoubt()).isFalse();

            assertThat(keys.release(parked)).isTrue();
            SQS.awaitEmpty(queue);
            assertThat(sales(application)).containsExactly("o1");
            assertThat(shop.attempts()).hasSize(3);
        }
    }

    @Test
    void handlerThatPassesItsTimeoutIsRolledBackAndTheNextAttemptWritesOnce() {
        try (TestApplication application = start(Hanging.class)) {
            SQS.send(queue, "o1");

            SQS.awaitEmpty(queue);

            assertThat(application.bean(Hanging.class).attempts()).containsExactly(1, 1);
            assertThat(sales(application)).containsExactly("o1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.count("exactly.once.handler.timeouts", "listener", "sales"))
                    .isEqualTo(1);
        }
    }
}
