package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.RoundTrips;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.core.JdbcTemplate;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;

/**
 * The cost of a delivery in round trips to PostgreSQL and requests to SQS, for each mode: the table in
 * docs/performance.md. A change that adds a round trip or a request must change a number here, too.
 */
@UsesSqs
class DeliveryCostIT {

    /** Long enough that nothing is renewed during the test. */
    private static final int WINDOW_SECONDS = 120;

    /** Each connection queries the types of its arrays once. */
    private static final int WARM_UP = 8;

    private static final SqsServer SQS = SqsServer.shared();

    record Order(String orderId) {}

    static class External {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order.orderId")
        void handle(Order order) {}
    }

    static class Batches {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#payload.orderId")
        void handle(List<Order> orders) {}
    }

    static class InDatabase {
        private final JdbcTemplate jdbc;

        InDatabase(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#order.orderId",
                effects = Effects.DATABASE)
        String handle(Order order) {
            jdbc.update("INSERT INTO sale VALUES (?)", order.orderId());
            return "sold";
        }
    }

    static class BatchesInDatabase {
        private final JdbcTemplate jdbc;
        private final List<Integer> calls = new CopyOnWriteArrayList<>();

        BatchesInDatabase(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        List<Integer> calls() {
            return calls;
        }

        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#payload.orderId",
                effects = Effects.DATABASE)
        void handle(List<Order> orders) {
            calls.add(orders.size());
            jdbc.batchUpdate(
                    "INSERT INTO sale VALUES (?)",
                    orders.stream().map(order -> new Object[] {order.orderId()}).toList());
        }
    }

    /** The place of a row, and the transactions that wrote, locked or deleted the row. */
    private record RowVersion(String place, String writtenBy, String lockedBy) {}

    private final String queue = SQS.createQueue(WINDOW_SECONDS);
    private final String url = EmbeddedDatabase.shared().createDatabase();

    DeliveryCostIT() {
        new JdbcTemplate(EmbeddedDatabase.shared().dataSource(url)).execute("CREATE TABLE sale (order_id text)");
    }

    private TestApplication start(Class<?> listener) {
        TestApplication application = TestApplication.start(
                url,
                Map.of(
                        "test.queue", queue,
                        "exactly-once.claim.cleanup.enabled", "false",
                        "exactly-once.datasource.replica-lag-interval", "0s",
                        "exactly-once.datasource.maximum-pool-size", "2",
                        "spring.datasource.hikari.maximum-pool-size", "1"),
                listener,
                SqsRequests.class);
        // Costs messages one after the other. Deletions are collected for a second, so several may share a request.
        for (int i = 1; i <= WARM_UP; i++) {
            send("warm-up-" + i);
            int delivered = i;
            await().pollInterval(Duration.ofMillis(20)).until(() -> application.claims("COMPLETED") == delivered);
        }
        awaitEmptyQueue();
        return application;
    }

    private void send(String orderId) {
        SQS.send(queue, "{\"orderId\":\"%s\"}".formatted(orderId));
    }

    private void deliver(String orderId) {
        send(orderId);
        awaitEmptyQueue();
    }

    private void awaitEmptyQueue() {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> SQS.size(queue) == 0);
    }

    /** Returns the number of round trips and statements of one delivery. */
    private List<Integer> costOf(String orderId) {
        try (RoundTrips trips = RoundTrips.count()) {
            deliver(orderId);
            return List.of(trips.total(), trips.statements());
        }
    }

    private static RowVersion row(TestApplication application, String orderId) {
        return application
                .database()
                .sql("SELECT ctid::text AS place, xmin::text AS written_by, xmax::text AS locked_by"
                        + " FROM exactly_once_claim WHERE key = ?")
                .param(orderId)
                .query(RowVersion.class)
                .single();
    }

    private static void assertThatNothingWasRenewed(TestApplication application) {
        SqsRequests requests = application.bean(SqsRequests.class);
        assertThat(requests.of(ChangeMessageVisibilityBatchRequest.class)).isEmpty();
        // The audit checks its rights once, when the listener starts.
        assertThat(requests.of(ChangeMessageVisibilityRequest.class))
                .extracting(ChangeMessageVisibilityRequest::receiptHandle)
                .allMatch("exactly-once-audit"::equals);
    }

    static Stream<Arguments> costs() {
        return Stream.of(
                Arguments.of(External.class, List.of(2, 3)),
                Arguments.of(Batches.class, List.of(2, 3)),
                Arguments.of(InDatabase.class, List.of(3, 5)));
    }

    /**
     * The cost in round trips and statements. A duplicate costs two round trips and three statements, and writes
     * nothing.
     */
    @ParameterizedTest(name = "{0}")
    @MethodSource("costs")
    void deliveryCostsAndItsDuplicateCosts(Class<?> listener, List<Integer> cost) {
        try (TestApplication application = start(listener)) {
            assertThat(costOf("o1")).as("first").isEqualTo(cost);
            RowVersion written = row(application, "o1");

            assertThat(costOf("o1")).as("duplicate").isEqualTo(List.of(2, 3));
            assertThat(row(application, "o1")).isEqualTo(written);
            assertThatNothingWasRenewed(application);
        }
    }

    @Test
    void noThreadOfAListenersWaitsForTheDatabase() {
        try (TestApplication application = start(External.class)) {
            assertThat(application.container("orders").isRunning()).isTrue();
            try (RoundTrips trips = RoundTrips.count()) {
                deliver("o1");
                deliver("o1");

                assertThat(trips.threads()).isNotEmpty().allMatch(thread -> thread.startsWith("exactly-once-claims-"));
            }
        }
    }

    @Test
    void batchesInTheDatabaseCostOneMoreForTheCommitWhateverTheirNumber() {
        int messages = 10;
        try (TestApplication application = start(BatchesInDatabase.class)) {
            assertThat(costOf("alone")).as("alone").isEqualTo(List.of(3, 5));
            assertThat(costOf("alone")).as("duplicate").isEqualTo(List.of(2, 3));

            application.container("orders").stop();
            IntStream.range(0, messages).forEach(i -> send("o" + i));
            List<Integer> calls = application.bean(BatchesInDatabase.class).calls();
            calls.clear();
            try (RoundTrips trips = RoundTrips.count()) {
                application.container("orders").start();
                awaitEmptyQueue();

                assertThat(calls.stream().mapToInt(Integer::intValue).sum()).isEqualTo(messages);
                assertThat(calls).anyMatch(size -> size > 1);
                assertThat(trips.total())
                        .isEqualTo(calls.stream()
                                .mapToInt(size -> size == 1 ? 3 : 4)
                                .sum());
            }
            assertThatNothingWasRenewed(application);
        }
    }

    @Test
    void deliveriesUnderLoadShareRoundTripsAndDeletions() {
        int messages = 300;
        try (TestApplication application = start(External.class)) {
            SqsRequests requests = application.bean(SqsRequests.class);
            application.container("orders").stop();
            IntStream.range(0, messages).forEach(i -> send("o" + i));
            int before = requests.of(DeleteMessageBatchRequest.class).size();
            try (RoundTrips trips = RoundTrips.count()) {
                application.container("orders").start();
                awaitEmptyQueue();

                assertThat(trips.total()).isLessThan(messages / 2);
            }
            assertThat(requests.of(DeleteMessageBatchRequest.class).size() - before)
                    .isLessThanOrEqualTo(messages / 2);
            assertThatNothingWasRenewed(application);
        }
    }
}
