package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The migration of {@code docs/adopt.md} from a hand-written key table to claims, without downtime. */
@UsesSqs
class MixedDeploymentIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final int WINDOW_SECONDS = 2;
    private static final int ORDERS = 20;
    private static final DocumentedCode DOCUMENT = DocumentedCode.of("adopt.md");

    record Order(String orderId) {}

    enum Seen {
        NEW,
        IN_PROGRESS,
        DONE
    }

    /** The application's own table. */
    static class ProcessedMessages {

        private final JdbcClient jdbc;

        ProcessedMessages(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        Seen begin(String key) {
            int inserted = jdbc.sql(
                            "INSERT INTO processed_message VALUES (?, 'IN_PROGRESS', now()) ON CONFLICT DO NOTHING")
                    .param(key)
                    .update();
            return inserted == 1
                    ? Seen.NEW
                    : jdbc.sql("SELECT status FROM processed_message WHERE message_key = ?")
                            .param(key)
                            .query(String.class)
                            .optional()
                            .map(Seen::valueOf)
                            .orElse(Seen.IN_PROGRESS);
        }

        void done(String key) {
            jdbc.sql("UPDATE processed_message SET status = 'DONE', processed_at = now() WHERE message_key = ?")
                    .param(key)
                    .update();
        }

        void remove(String key) {
            jdbc.sql("DELETE FROM processed_message WHERE message_key = ?")
                    .param(key)
                    .update();
        }
    }

    /** The effect that must not happen twice. Each instance of the application has its own bean. */
    static class Warehouse {

        private final JdbcClient jdbc;

        Warehouse(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        void ship(Order order) {
            // The pause is long enough for the other instance to get the order's other message.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            jdbc.sql("INSERT INTO shipment VALUES (?)").param(order.orderId()).update();
        }
    }

    static class OldVersion {

        private final ProcessedMessages processed;
        private final Warehouse warehouse;

        OldVersion(ProcessedMessages processed, Warehouse warehouse) {
            this.processed = processed;
            this.warehouse = warehouse;
        }

        @SqsListener(id = "old", queueNames = "${orders.queue}")
        public void fulfil(Order order) {
            switch (processed.begin(order.orderId())) {
                case DONE -> {}
                case IN_PROGRESS -> throw new IllegalStateException("Another instance is at work on it");
                case NEW -> {
                    warehouse.ship(order);
                    processed.done(order.orderId());
                }
            }
        }
    }

    static class BothChecks {

        private final ProcessedMessages processed;
        private final Warehouse warehouse;

        BothChecks(ProcessedMessages processed, Warehouse warehouse) {
            this.processed = processed;
            this.warehouse = warehouse;
        }

        // tag::both
        @ExactlyOnceListener(id = "orders", queueNames = "${orders.queue}", key = "#order.orderId")
        public void fulfil(Order order) {
            switch (processed.begin(order.orderId())) {
                case DONE -> {} // Returning completes the claim, so this key needs no import.
                case IN_PROGRESS -> throw new IllegalStateException("An old instance is handling it, or has died");
                case NEW -> {
                    try {
                        warehouse.ship(order);
                    } catch (RuntimeException failure) {
                        processed.remove(order.orderId());
                        throw failure;
                    }
                    processed.done(order.orderId());
                }
            }
        }
        // end::both
    }

    static class NewVersion {

        private final Warehouse warehouse;

        NewVersion(Warehouse warehouse) {
            this.warehouse = warehouse;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${orders.queue}", key = "#order.orderId")
        public void fulfil(Order order) {
            warehouse.ship(order);
        }
    }

    private final String database = EmbeddedDatabase.shared().createDatabase();
    private final JdbcClient jdbc = JdbcClient.create(EmbeddedDatabase.shared().dataSource(database));
    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start(Class<?> version) {
        return TestApplication.start(
                database, Map.of("orders.queue", queue), ProcessedMessages.class, Warehouse.class, version);
    }

    private void sendAllTwice(int from) {
        for (int time = 0; time < 2; time++) {
            IntStream.range(from, from + ORDERS).forEach(n -> SQS.send(queue, "{\"orderId\":\"A-%d\"}".formatted(n)));
        }
    }

    private long shipments(String distinct) {
        return jdbc.sql("SELECT count(%s order_id) FROM shipment".formatted(distinct))
                .query(Long.class)
                .single();
    }

    private void assertEachIsShippedOnce(int orders) {
        assertThat(shipments("DISTINCT")).isEqualTo(orders);
        assertThat(shipments("")).isEqualTo(orders);
    }

    @Test
    void noEffectHappensTwiceFromTheOldVersionOverBothToTheNewOne() {
        jdbc.sql(DOCUMENT.block("table")).update();
        jdbc.sql("CREATE TABLE shipment (order_id text)").update();
        try (TestApplication old = start(OldVersion.class);
                TestApplication both = start(BothChecks.class)) {
            assertThat(old.container("old").isRunning()).isTrue();
            assertThat(both.container("orders").isRunning()).isTrue();
            sendAllTwice(0);

            SQS.awaitEmpty(queue);
            assertEachIsShippedOnce(ORDERS);
        }
        // "Set your queue".
        jdbc.sql(DOCUMENT.block("import").replace("'orders'", "'" + queue + "'"))
                .update();
        try (TestApplication replaced = start(NewVersion.class)) {
            assertThat(replaced.container("orders").isRunning()).isTrue();
            sendAllTwice(0);
            sendAllTwice(ORDERS);

            SQS.awaitEmpty(queue);
            assertEachIsShippedOnce(2 * ORDERS);
        }
    }

    @Test
    void handlerThatChecksBothIsTheDocumentedOne() {
        assertThat(DOCUMENT.block("both")).isEqualTo(DocumentedCode.example(MixedDeploymentIT.class, "both"));
    }
}
