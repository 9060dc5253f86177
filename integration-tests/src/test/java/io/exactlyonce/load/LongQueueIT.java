package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;

/** Drains a queue of a million messages, on a table with ten million rows, while expired rows are deleted. */
@LoadTrial
class LongQueueIT {

    /** {@code -Dload.messages=100000} reduces the number. */
    private static final int MESSAGES = Integer.getInteger("load.messages", Trial.choose(1_000_000, 5_000));

    /** {@code -Dload.rows=1000000} reduces the number. */
    private static final int ROWS = Integer.getInteger("load.rows", Trial.choose(10_000_000, 100_000));

    private static final int EXPIRED = ROWS / 100;

    /** The key of every hundredth message was completed long ago. */
    private static final int OLD_EACH = 100;

    private static final int WINDOW_SECONDS = 30;
    private static final int CONCURRENCY = 100;
    private static final int MOST_THREADS = CONCURRENCY + 80;
    private static final long MOST_HEAP = 128_000_000;

    /** Inserts in the order of the key, which takes one minute instead of several. Benchmark (g) has scattered keys. */
    private static final String FILL = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                            lease_until, first_claimed_at, claimed_at, completed_at, expires_at)
            SELECT ?, 'old-' || lpad(i::text, 9, '0'), 'COMPLETED', gen_random_uuid(), 'worker', 1, i, false,
                   at, at, at, at, at + interval '18 days'
            FROM generate_series(1, ?) AS i,
                 LATERAL (SELECT now() - CASE WHEN i <= ? THEN interval '19 days' ELSE interval '1 day' END AS at) AS made
            """;

    private static final String WHOLE_SCANS =
            "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'exactly_once_claim'";

    static class Listener {
        private final AtomicIntegerArray runs = new AtomicIntegerArray(MESSAGES);
        private final AtomicInteger old = new AtomicInteger();
        private final AtomicInteger handled = new AtomicInteger();

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {
            if (order.startsWith("new-")) {
                runs.incrementAndGet(Integer.parseInt(order.substring("new-".length())));
            } else {
                old.incrementAndGet();
            }
            handled.incrementAndGet();
        }

        int handled() {
            return handled.get();
        }

        int old() {
            return old.get();
        }

        /** Returns how many new orders were not handled exactly once. */
        long notOnce() {
            long wrong = 0;
            for (int number = 0; number < MESSAGES; number++) {
                wrong += runs.get(number) == (isOld(number) ? 0 : 1) ? 0 : 1;
            }
            return wrong;
        }
    }

    @TempDir
    private Path directory;

    private final String url = EmbeddedDatabase.shared().createDatabase();
    private final DataSource source = EmbeddedDatabase.shared().dataSource(url);
    private final JdbcTemplate database = new JdbcTemplate(source);

    private static boolean isOld(int number) {
        return number % OLD_EACH == 0;
    }

    private static String order(int number) {
        return isOld(number) ? "old-%09d".formatted(EXPIRED + 1 + number / OLD_EACH) : "new-" + number;
    }

    private void fill(String scope) {
        new ClaimSchema(TestDatabase.table(source)).create();
        database.update(FILL, scope, ROWS, EXPIRED);
        database.execute("ANALYZE exactly_once_claim");
    }

    private long count(String sql, Object... arguments) {
        return Objects.requireNonNull(database.queryForObject(sql, Long.class, arguments));
    }

    @Test
    void eachOrderIsHandledOnceAndNoneOfAKeyThatIsCompleted() throws Exception {
        try (QueueProcess process = QueueProcess.start("4g", directory)) {
            SqsServer sqs = process.server();
            String deadLetters = sqs.createQueue(WINDOW_SECONDS);
            String queue = sqs.createQueue(WINDOW_SECONDS, deadLetters, 5);
            CompletableFuture<Void> filled = CompletableFuture.runAsync(() -> fill(queue));
            Senders.send(sqs, queue, MESSAGES, LongQueueIT::order);
            filled.join();
            assertThat(sqs.visible(queue)).isEqualTo(MESSAGES);
            assertThat(count("SELECT count(*) FROM exactly_once_claim")).isEqualTo(ROWS);

            drain(sqs, queue, deadLetters);
        }
    }

    private void drain(SqsServer sqs, String queue, String deadLetters) {
        Map<String, String> properties = new HashMap<>(sqs.properties());
        properties.put("test.queue", queue);
        properties.put("spring.cloud.aws.sqs.listener.max-concurrent-messages", String.valueOf(CONCURRENCY));
        properties.put("exactly-once.claim.cleanup.interval", "5s");
        long scans = count(WHOLE_SCANS);
        Footprint footprint = Footprint.begin();
        try (TestApplication application = TestApplication.start(url, properties, Listener.class)) {
            Listener listener = application.bean(Listener.class);
            int fresh = MESSAGES - (MESSAGES + OLD_EACH - 1) / OLD_EACH;
            long heap = 0;
            for (int quarter = 1; quarter <= 4; quarter++) {
                int part = fresh / 4 * quarter;
                await().atMost(Duration.ofMinutes(10))
                        .pollInterval(Duration.ofMillis(500))
                        .until(() -> listener.handled() >= part);
                heap = Math.max(heap, footprint.heapBytes());
            }
            await().atMost(Duration.ofMinutes(2))
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> sqs.size(queue) == 0);
            double seconds = footprint.time().toMillis() / 1e3;
            await().atMost(Duration.ofMinutes(1))
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> application.count("exactly.once.claims.deleted") >= EXPIRED);
            long scanned = count(WHOLE_SCANS) - scans;

            assertThat(listener.notOnce()).isZero();
            assertThat(listener.old()).isZero();
            assertThat(sqs.size(deadLetters)).isZero();
            Trial.assertNothingLost(application, "orders");
            assertThat(count("SELECT count(*) FROM exactly_once_claim WHERE status = 'COMPLETED'"))
                    .isEqualTo((long) ROWS - EXPIRED + fresh);
            assertThat(count("SELECT count(*) FROM exactly_once_claim")).isEqualTo((long) ROWS - EXPIRED + fresh);
            assertThat(scanned).as("scans of the whole table").isZero();
            assertThat(footprint.mostThreads()).isLessThan(MOST_THREADS);
            assertThat(heap).isLessThan(MOST_HEAP);
            Trial.note(
                    "4-long-queue",
                    "a queue of %,d messages, a table of %,d rows, %,d of them expired"
                            .formatted(MESSAGES, ROWS, EXPIRED),
                    "each order handled once, none of the %,d keys that were completed before; expired rows deleted meanwhile; no window or lease lost; the table never read as a whole"
                            .formatted(MESSAGES - fresh),
                    "%,.0f messages/s, the start included; %.0f MB of heap, %d threads at the most"
                            .formatted(MESSAGES / seconds, heap / 1e6, footprint.mostThreads()));
        }
    }
}
