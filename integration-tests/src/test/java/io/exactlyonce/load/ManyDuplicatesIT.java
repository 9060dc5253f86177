package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.RoundTrips;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A thousand messages of one key at once, distributed over several applications. */
@LoadTrial
class ManyDuplicatesIT {

    private static final int MESSAGES = Trial.choose(1_000, 200);
    private static final int CONSUMERS = 3;
    private static final int WINDOW_SECONDS = Trial.choose(30, 10);

    private static final Duration HELD = Duration.ofSeconds(Trial.choose(40, 8));

    /** Each application looks up all its waiting deliveries four times a second, in at most four round trips. */
    private static final int MOST_WATCHING_A_SECOND = CONSUMERS * 4 * 4;

    private static final SqsServer SQS = SqsServer.shared();

    /** The place of the effect, and the most round trips per message. */
    enum Where {
        EXTERNAL(External.class, 1),
        DATABASE(InDatabase.class, 4);

        private final Class<? extends Shop> listener;
        private final int mostRoundTrips;

        Where(Class<? extends Shop> listener, int mostRoundTrips) {
            this.listener = listener;
            this.mostRoundTrips = mostRoundTrips;
        }
    }

    abstract static class Shop {
        private final JdbcTemplate jdbc;
        private final CountDownLatch finish = new CountDownLatch(1);

        Shop(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        void finish() {
            finish.countDown();
        }

        void sell(String order) throws InterruptedException {
            jdbc.update("INSERT INTO effect VALUES (?)", order);
            finish.await();
        }
    }

    static class External extends Shop {
        External(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) throws InterruptedException {
            sell(order);
        }
    }

    static class InDatabase extends Shop {
        InDatabase(JdbcTemplate jdbc) {
            super(jdbc);
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        void handle(String order) throws InterruptedException {
            sell(order);
        }
    }

    private final String deadLetters = SQS.createQueue(30);
    private final String queue = SQS.createQueue(WINDOW_SECONDS, deadLetters, 5);
    private final String url = EmbeddedDatabase.shared().createDatabase();
    private final JdbcTemplate database =
            new JdbcTemplate(EmbeddedDatabase.shared().dataSource(url));
    private final List<TestApplication> consumers = new ArrayList<>();

    @ParameterizedTest
    @EnumSource
    void effectHappensOnceAndAllAreDeleted(Where where) throws Exception {
        database.execute("CREATE TABLE effect (name text)");
        try {
            for (int consumer = 0; consumer < CONSUMERS; consumer++) {
                consumers.add(
                        TestApplication.start(url, Map.of("test.queue", queue), where.listener, SqsRequests.class));
            }
            Footprint footprint = Footprint.begin();
            try (RoundTrips trips = RoundTrips.count()) {
                run(where);

                assertThat(effects()).isEqualTo(1);
                double most = (double) MESSAGES * where.mostRoundTrips
                        + MOST_WATCHING_A_SECOND * (footprint.time().toSeconds() + 1.0);
                assertThat((double) trips.total()).isLessThan(most);
                assertThat(footprint.mostThreads()).isLessThan(CONSUMERS * 40);
                Trial.note(
                        "2-duplicates-" + where.name().toLowerCase(Locale.ROOT),
                        "%,d messages of one key at once, %d applications, `%s`".formatted(MESSAGES, CONSUMERS, where),
                        "one effect; each message received once, and deleted; no window lost",
                        "%,d round trips in %d s, %d s of waiting for the holder among them; %d threads more"
                                .formatted(
                                        trips.total(),
                                        footprint.time().toSeconds(),
                                        HELD.toSeconds(),
                                        footprint.mostThreads()));
            }
        } finally {
            consumers.forEach(TestApplication::close);
        }
    }

    private void run(Where where) throws Exception {
        Senders.send(SQS, queue, MESSAGES, number -> "order");
        await().atMost(Duration.ofSeconds(60)).until(() -> waiting() == MESSAGES - 1);
        Trial.hold(HELD, () -> waiting() == MESSAGES - 1);
        consumers.forEach(consumer -> consumer.bean(where.listener).finish());
        SQS.awaitEmpty(queue);

        assertThat(SQS.size(deadLetters)).isZero();
        int received = 0;
        for (TestApplication consumer : consumers) {
            received += consumer.bean(SqsRequests.class).received().size();
            Trial.assertNothingLost(consumer, "orders");
        }
        assertThat(received).isEqualTo(MESSAGES);
    }

    private double waiting() {
        return consumers.stream()
                .mapToDouble(consumer -> consumer.gauge("exactly.once.waiting", "listener", "orders"))
                .sum();
    }

    private Integer effects() {
        return database.queryForObject("SELECT count(*) FROM effect", Integer.class);
    }
}
