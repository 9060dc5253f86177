package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
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
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** Handlers that write to the claims' own database: their writes and their completion are one. */
@UsesSqs
class DatabaseEffectsIT {

    private static final int WINDOW_SECONDS = 2;
    private static final SqsServer SQS = SqsServer.shared();

    /** Fails as often as it is told to, after its writes. */
    abstract static class Shop {
        private final List<Integer> attempts = new CopyOnWriteArrayList<>();
        private volatile int failures;

        List<Integer> attempts() {
            return attempts;
        }

        void failOnce() {
            failures = 1;
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

    static class WithJdbcClient extends Shop {
        private final JdbcClient jdbc;

        WithJdbcClient(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        String handle(String order, Claim claim) {
            jdbc.sql("INSERT INTO sale (order_id) VALUES (?)").param(order).update();
            return sold(claim);
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

    /** The entity is changed after it was written, so that there is something to flush at the commit. */
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

    /** Swallows the failure of a service whose transaction is the claim's. */
    static class Swallowing extends Shop {
        private final JdbcTemplate jdbc;
        private final TransactionTemplate service;

        Swallowing(JdbcTemplate jdbc, PlatformTransactionManager manager) {
            this.jdbc = jdbc;
            this.service = new TransactionTemplate(manager);
        }

        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        void handle(String order, Claim claim) {
            jdbc.update("INSERT INTO sale (order_id) VALUES (?)", order);
            try {
                service.executeWithoutResult(status -> sold(claim));
            } catch (IllegalStateException swallowed) {
                assertThat(swallowed).hasMessageContaining("out of paper");
            }
        }
    }

    static class Patient extends Shop {
        private final JdbcTemplate jdbc;
        private final CountDownLatch finish = new CountDownLatch(1);

        Patient(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        void finish() {
            finish.countDown();
        }

        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        void handle(String order, Claim claim) throws InterruptedException {
            jdbc.update("INSERT INTO sale (order_id) VALUES (?)", order);
            sold(claim);
            finish.await();
            claim.ensureHeld();
        }
    }

    /** Its first attempt hangs after its writes, until it is interrupted. */
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
        void handle(List<String> orders, List<Claim> claims) throws BatchItemFailures {
            calls.add(List.copyOf(orders));
            claims.forEach(Claim::fence);
            orders.forEach(order -> jdbc.update("INSERT INTO sale (order_id) VALUES (?)", order));
            BatchItemFailures failures = new BatchItemFailures();
            if (orders.contains("o3") && attempts().isEmpty()) {
                attempts().add(1);
                failures.add(orders.indexOf("o3"), new IllegalStateException("the printer is out of paper"));
            }
            failures.throwIfAny();
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);
    private final String database = EmbeddedDatabase.shared().createDatabase();

    private TestApplication start(Class<?> listener) {
        return start(database, listener);
    }

    private TestApplication start(String database, Class<?> listener) {
        JdbcClient.create(EmbeddedDatabase.shared().dataSource(database))
                .sql("CREATE TABLE sale (id bigint GENERATED ALWAYS AS IDENTITY, order_id text UNIQUE)")
                .update();
        Map<String, String> properties = listener == WithJpa.class
                ? Map.of("test.queue", queue, "spring.autoconfigure.exclude", "")
                : Map.of("test.queue", queue);
        return TestApplication.start(database, properties, listener);
    }

    private void awaitEmptyQueue() {
        await().atMost(Duration.ofSeconds(30)).until(() -> SQS.size(queue) == 0);
    }

    private static List<String> sales(TestApplication application) {
        return application
                .database()
                .sql("SELECT order_id FROM sale")
                .query(String.class)
                .list();
    }

    private static double claims(TestApplication application, String outcome) {
        return application.count("exactly.once.claims", "listener", "sales", "outcome", outcome);
    }

    @ParameterizedTest
    @ValueSource(classes = {WithJdbcClient.class, WithJdbcTemplate.class, WithJpa.class})
    void writesAndCompletionAreCommittedTogetherAndOnce(Class<? extends Shop> listener) {
        try (TestApplication application = start(listener)) {
            SQS.send(queue, "o1");
            awaitEmptyQueue();
            SQS.send(queue, "o1");
            awaitEmptyQueue();

            assertThat(sales(application)).containsExactly("o1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application
                            .database()
                            .sql("SELECT result FROM exactly_once_claim")
                            .query(String.class)
                            .single())
                    .isEqualTo("\"sold\"");
            assertThat(claims(application, "acquired")).isEqualTo(1);
            assertThat(claims(application, "already_completed")).isEqualTo(1);
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
            awaitEmptyQueue();

            assertThat(sales(application)).containsExactlyInAnyOrderElementsOf(orders);
            assertThat(application.claims("COMPLETED")).isEqualTo(orders.size());
            List<List<String>> calls = application.bean(Batches.class).calls();
            assertThat(calls).filteredOn(call -> call.contains("o3")).hasSize(2);
            assertThat(calls).anyMatch(call -> call.size() > 1);
        }
    }

    /** Trap: the second call got the message that had failed in place of another one, which was deleted without its effect. */
    @Test
    void messagesOfABatchThatAreHandledAgainAreTheirOwnAlsoBehindACompletedOne() {
        SQS.send(queue, "o1");
        try (TestApplication application = start(Batches.class)) {
            awaitEmptyQueue();
            assertThat(sales(application)).containsExactly("o1");
        }
        List.of("o1", "o2", "o3", "o4").forEach(order -> SQS.send(queue, order));

        try (TestApplication application =
                TestApplication.start(database, Map.of("test.queue", queue), Batches.class)) {
            awaitEmptyQueue();

            assertThat(sales(application)).containsExactlyInAnyOrder("o1", "o2", "o3", "o4");
            assertThat(application.claims("COMPLETED")).isEqualTo(4);
            assertThat(application.bean(Batches.class).calls())
                    .containsExactly(List.of("o2", "o3", "o4"), List.of("o2", "o4"), List.of("o3"));
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {WithJdbcClient.class, WithJdbcTemplate.class, WithJpa.class, Swallowing.class})
    void failureRollsTheWritesBackAndTheMessageComesAgain(Class<? extends Shop> listener) {
        try (TestApplication application = start(listener)) {
            Shop shop = application.bean(listener);
            shop.failOnce();
            SQS.send(queue, "o1");

            awaitEmptyQueue();

            assertThat(sales(application)).containsExactly("o1");
            assertThat(shop.attempts()).containsExactly(1, 1);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(claims(application, "acquired")).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {WithJdbcClient.class, WithJpa.class})
    void violationOfABusinessConstraintIsRetriedAsAnyFailure(Class<? extends Shop> listener) {
        try (TestApplication application = start(listener)) {
            JdbcClient jdbc = application.database();
            jdbc.sql("INSERT INTO sale (order_id) VALUES ('o1')").update();
            SQS.send(queue, "o1");
            await().atMost(Duration.ofSeconds(20)).until(() -> claims(application, "acquired") >= 1);
            await().during(Duration.ofMillis(300)).until(() -> application.claims("COMPLETED") == 0);
            assertThat(SQS.size(queue)).isEqualTo(1);

            jdbc.sql("DELETE FROM sale").update();

            awaitEmptyQueue();
            assertThat(sales(application)).containsExactly("o1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
    }

    @Test
    void handlerThatPassesItsTimeoutIsRolledBackAndTheNextAttemptWritesOnce() {
        try (TestApplication application = start(Hanging.class)) {
            SQS.send(queue, "o1");

            awaitEmptyQueue();

            assertThat(application.bean(Hanging.class).attempts()).containsExactly(1, 1);
            assertThat(sales(application)).containsExactly("o1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.count("exactly.once.handler.timeouts", "listener", "sales"))
                    .isEqualTo(1);
        }
    }

    @Test
    void longHandlerKeepsItsMessageAndItsKey() {
        try (TestApplication application = start(Patient.class)) {
            Patient shop = application.bean(Patient.class);
            SQS.send(queue, "o1");
            await().until(() -> shop.attempts().size() == 1);
            SQS.send(queue, "o1");
            await().atMost(Duration.ofSeconds(20)).until(() -> claims(application, "held_elsewhere") >= 1);

            Duration twoWindows = Duration.ofSeconds(2 * WINDOW_SECONDS + 1);
            await().during(twoWindows)
                    .atMost(twoWindows.plusSeconds(5))
                    .until(() ->
                            shop.attempts().size() == 1 && sales(application).isEmpty());
            shop.finish();

            awaitEmptyQueue();
            assertThat(shop.attempts()).hasSize(1);
            assertThat(sales(application)).containsExactly("o1");
            assertThat(application.count(
                            "exactly.once.renewals", "listener", "sales", "target", "window", "result", "succeeded"))
                    .isGreaterThanOrEqualTo(3);
            assertThat(application.count(
                            "exactly.once.renewals", "listener", "sales", "target", "lease", "result", "succeeded"))
                    .isZero();
        }
    }
}
