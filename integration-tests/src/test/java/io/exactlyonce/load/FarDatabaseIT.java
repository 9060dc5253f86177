package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/** An application whose round trips to the database take half a second each. */
@LoadTrial
@ExtendWith(OutputCaptureExtension.class)
class FarDatabaseIT {

    private static final Duration DISTANCE = Duration.ofMillis(500);

    /** Startup takes dozens of sequential round trips, so the short form moves the database away after startup. */
    private static final Duration DISTANCE_AT_THE_START = Duration.ofMillis(Trial.choose(500, 20));

    private static final int ORDERS = Trial.choose(200, 50);
    private static final int SALES = Trial.choose(50, 10);
    private static final int WINDOW_SECONDS = Trial.choose(30, 15);

    /** The first renewal of each delivery is due meanwhile. In the full form, the second renewal is due as well. */
    private static final Duration HANDLING = Duration.ofSeconds(Trial.choose(50, 18));

    private static final SqsServer SQS = SqsServer.shared();

    static class Shop extends HeldOrders {
        private final JdbcTemplate jdbc;

        Shop(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.orders}", key = "#order")
        CompletableFuture<Void> order(String order) {
            return handle(order);
        }

        @ExactlyOnceListener(id = "sales", queueNames = "${test.sales}", key = "#sale", effects = Effects.DATABASE)
        void sell(String sale) {
            jdbc.update("INSERT INTO sale VALUES (?)", sale);
        }
    }

    private final String deadLetters = SQS.createQueue(30);
    private final String orders = SQS.createQueue(WINDOW_SECONDS, deadLetters, 5);
    private final String sales = SQS.createQueue(WINDOW_SECONDS, deadLetters, 5);
    private final String url = EmbeddedDatabase.shared().createDatabase();
    private final JdbcTemplate database =
            new JdbcTemplate(EmbeddedDatabase.shared().dataSource(url));
    private final FarDatabase far;

    FarDatabaseIT() throws IOException {
        database.execute("CREATE TABLE sale (name text)");
        far = new FarDatabase(DISTANCE_AT_THE_START);
    }

    @AfterEach
    void close() throws IOException {
        far.close();
    }

    private TestApplication start(Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.put("test.orders", orders);
        all.put("test.sales", sales);
        all.put("spring.datasource.url", far.lead(url));
        all.put("spring.cloud.aws.sqs.listener.max-concurrent-messages", String.valueOf(ORDERS));
        return TestApplication.start(url, all, Shop.class, SqsRequests.class);
    }

    @Test
    void handlersFinishAndLeasesAreRenewedInTime() throws Exception {
        Footprint footprint = Footprint.begin();
        try (TestApplication application = start(Map.of("exactly-once.datasource.connection-timeout", "8s"))) {
            Duration started = footprint.time();
            assertThat(application.bean(ClaimPool.class).shortestConnectTime())
                    .hasValueSatisfying(
                            opening -> assertThat(opening).isGreaterThan(DISTANCE_AT_THE_START.multipliedBy(4)));
            far.moveTo(DISTANCE);
            HeldOrders held = application.bean(Shop.class);
            Senders.send(SQS, orders, ORDERS, number -> "order-" + number);
            // Each twice.
            Senders.send(SQS, sales, 2 * SALES, number -> "sale-" + number / 2);
            await().atMost(Duration.ofSeconds(60)).until(() -> held.runs().size() == ORDERS);
            Footprint selling = Footprint.begin();
            await().atMost(Duration.ofMinutes(3)).until(() -> SQS.size(sales) == 0);
            Duration sold = selling.time();
            Trial.hold(HANDLING, () -> heldOrders() == ORDERS);
            held.release();
            SQS.awaitEmpty(orders);

            held.assertEachOnce(ORDERS);
            assertThat(database.queryForList("SELECT name FROM sale", String.class))
                    .containsExactlyInAnyOrderElementsOf(IntStream.range(0, SALES)
                            .mapToObj(number -> "sale-" + number)
                            .toList());
            assertThat(SQS.size(deadLetters)).isZero();
            Trial.assertNothingLost(application, "orders", "sales");
            assertThat(application.bean(SqsRequests.class).mostReceives()).isEqualTo(1);
            Trial.note(
                    "5-far-database",
                    "a database %d ms away; window and lease %d s, handlers of more than %d s; `exactly-once.datasource.connection-timeout=8s`"
                            .formatted(DISTANCE.toMillis(), WINDOW_SECONDS, HANDLING.toSeconds()),
                    "%d orders and %d sales, `EXTERNAL` and `DATABASE`, each once; no lease or window lost"
                            .formatted(ORDERS, SALES),
                    "start %.0f s, with the database %d ms away; %.1f sales a second"
                            .formatted(
                                    started.toMillis() / 1e3,
                                    DISTANCE_AT_THE_START.toMillis(),
                                    2 * SALES * 1e3 / sold.toMillis()));
        }
    }

    private Integer heldOrders() {
        return database.queryForObject("SELECT count(*) FROM exactly_once_claim WHERE status = 'HELD'", Integer.class);
    }

    /**
     * A connection may take 3 s to open by default, which is six round trips. TCP, the driver and our own checks need
     * more.
     */
    @Test
    void startThatFailsForTheDistanceNamesWhatToRaise(CapturedOutput output) {
        far.moveTo(DISTANCE);

        assertThatThrownBy(() -> start(Map.of())).isNotNull();

        assertThat(output).contains("APPLICATION FAILED TO START", "exactly-once.datasource.connection-timeout (3s)");
    }
}
