package io.exactlyonce.hostile;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;

/**
 * Callers that may read the endpoint, many at a time, on a large claim table. No reading costs a lease, a handler call
 * or the pace of a listener.
 *
 * <p>{@code -Dhostile.rows=5000000 -Dhostile.seconds=60} makes the table as large as a busy application's.
 */
@UsesSqs
class HostileReaderIT {

    private static final Logger log = LoggerFactory.getLogger(HostileReaderIT.class);

    private static final int ROWS = Integer.getInteger("hostile.rows", 300_000);
    private static final int SECONDS = Integer.getInteger("hostile.seconds", 12);
    private static final int READERS = 100;
    private static final int HELD = 8;
    private static final int LEASE_SECONDS = 6;

    /** Renewal is due at half of the lease at the latest. */
    private static final Duration LATE = Duration.ofSeconds(LEASE_SECONDS / 3);

    /**
     * Requests of the readers, and the status of each answer if nobody else reads. The claim of {@code old-1} is too old to
     * be found by its hash.
     */
    private static final Map<String, Integer> PATHS = Map.ofEntries(
            entry("/exactlyonce?scope=orders&keyHash=0000000000000000", 404),
            entry("/exactlyonce?scope=orders&keyHash=" + new ClaimKey("orders", "old-1").keyHash(), 404),
            entry(
                    "/exactlyonce?scope=orders&keyHash=" + new ClaimKey("orders", "old-" + ROWS / 20 * 20).keyHash(),
                    200),
            entry("/exactlyonce?scope=nobodys&keyHash=ffffffffffffffff", 404),
            entry("/exactlyonce?scope=orders&key=old-2", 200),
            entry("/exactlyonce?scope=orders&key=none", 404),
            entry("/exactlyonce", 200),
            entry("/exactlyonce/overview", 200),
            entry("/exactlyonce/overview?scope=orders&limit=1000", 200),
            entry("/exactlyonce/parked?scope=orders&limit=1000", 200),
            entry("/exactlyonce/parked?error=java.lang.NoSuchFieldError&limit=1000", 200),
            entry("/exactlyonce/dead-letters?listener=quick", 200),
            entry("/health/claims", 200));

    private static final SqsServer SQS = SqsServer.shared();

    private static final Map<String, AtomicInteger> CALLS = new ConcurrentHashMap<>();
    private static final AtomicInteger HANDLED = new AtomicInteger();
    private static final AtomicBoolean IS_INTERRUPTED = new AtomicBoolean();
    private static volatile CountDownLatch end = new CountDownLatch(1);

    static class Listeners {

        @ExactlyOnceListener(id = "slow", queueNames = "${test.slow}", scope = "orders", key = "#order")
        void handleSlowly(String order) throws InterruptedException {
            CALLS.computeIfAbsent(order, first -> new AtomicInteger()).incrementAndGet();
            try {
                end.await();
            } catch (InterruptedException lost) {
                IS_INTERRUPTED.set(true);
                throw lost;
            }
        }

        @ExactlyOnceListener(id = "quick", queueNames = "${test.quick}", scope = "payments", key = "#payment")
        void handleQuickly(String payment) {
            HANDLED.incrementAndGet();
        }
    }

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpClient http = HttpClient.newHttpClient();
    private final AtomicBoolean isOver = new AtomicBoolean();

    @AfterEach
    void stop() {
        isOver.set(true);
        end.countDown();
        threads.shutdownNow();
    }

    /** One request of a reader, as it was answered. */
    private record Answered(String path, int status, boolean hasRetryAfter, long nanos) {}

    @Test
    void hundredReadersCostNoLeaseAndNoHandlerCall() throws Exception {
        String slow = SQS.createQueue(LEASE_SECONDS);
        String quick = SQS.createQueue(LEASE_SECONDS, SQS.createQueue(LEASE_SECONDS), 5);
        end = new CountDownLatch(1);
        Map<String, String> properties = Map.of(
                "test.slow",
                slow,
                "test.quick",
                quick,
                "management.endpoints.web.exposure.include",
                "exactlyonce,health",
                "management.endpoint.health.group.claims.include",
                "exactlyOnce");
        try (TestApplication application = TestApplication.start(
                WebApplicationType.SERVLET, EmbeddedDatabase.shared().createDatabase(), properties, Listeners.class)) {
            fill(application);
            for (int order = 0; order < HELD; order++) {
                SQS.send(slow, "held-" + order);
            }
            await().until(() -> CALLS.size() == HELD);

            Queue<Answered> answers = new ConcurrentLinkedQueue<>();
            read(application, answers);
            Duration least = leastLease(application, quick);
            isOver.set(true);
            threads.shutdown();
            assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
            report(answers, least);

            assertThat(application.renewals("lease", "succeeded")).isGreaterThanOrEqualTo(HELD);
            assertThat(application.renewals("lease", "failed")).isZero();
            assertThat(application.renewals("lease", "lost")).isZero();
            assertThat(least).as("no renewal is late").isGreaterThan(LATE);
            assertThat(application.gauge("exactly.once.listener.paused", "listener", "quick"))
                    .isZero();
            end.countDown();
            await().until(() -> application.claims("HELD") == 0);
            assertThat(IS_INTERRUPTED).isFalse();
            assertThat(CALLS.values()).extracting(AtomicInteger::get).containsOnly(1);
            assertThat(answers).extracting(Answered::status).contains(200, 503).isSubsetOf(200, 404, 503);
            assertThat(answers)
                    .filteredOn(answer -> answer.status() == 503)
                    .extracting(Answered::hasRetryAfter)
                    .containsOnly(true);
            // Which reader wins the one lookup at a time is luck; a reader that repeats alone has an answer.
            PATHS.forEach((path, status) -> await(path)
                    .untilAsserted(() -> assertThat(ask(actuator(application), path))
                            .returns(status, Answered::status)
                            .returns(false, Answered::hasRetryAfter)));
        }
    }

    /** Claims of long ago, most in one scope, and some that are parked. */
    private static void fill(TestApplication application) {
        application.database().sql("""
                        INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                            lease_until, error, first_claimed_at, claimed_at, completed_at, parked_at, expires_at)
                        SELECT 'orders', 'old-' || n, CASE WHEN n % 20 = 0 THEN 'PARKED' ELSE 'COMPLETED' END,
                               gen_random_uuid(), 'worker', 1, n, false, at, CASE WHEN n % 20 = 0 THEN 'card expired' END,
                               at, at, CASE WHEN n % 20 > 0 THEN at END, CASE WHEN n % 20 = 0 THEN at END,
                               at + interval '18 days'
                        FROM (SELECT n, clock_timestamp() - (:rows - n) * interval '1 millisecond' AS at
                              FROM generate_series(1, :rows) AS n) AS old
                        """).param("rows", ROWS).update();
        application.database().sql("ANALYZE exactly_once_claim").update();
    }

    private void read(TestApplication application, Queue<Answered> answers) {
        String actuator = actuator(application);
        List<String> paths = List.copyOf(PATHS.keySet());
        for (int reader = 0; reader < READERS; reader++) {
            String path = paths.get(reader % paths.size());
            threads.execute(() -> {
                while (!isOver.get()) {
                    answers.add(ask(actuator, path));
                }
            });
        }
    }

    private static String actuator(TestApplication application) {
        String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
        return "http://127.0.0.1:" + port + "/actuator";
    }

    private Answered ask(String actuator, String path) {
        long start = System.nanoTime();
        try {
            HttpResponse<Void> answer = http.send(
                    HttpRequest.newBuilder(URI.create(actuator + path)).build(), BodyHandlers.discarding());
            boolean hasRetryAfter = answer.headers().firstValue("Retry-After").isPresent();
            return new Answered(path, answer.statusCode(), hasRetryAfter, System.nanoTime() - start);
        } catch (Exception failure) {
            throw new AssertionError("No answer to " + path, failure);
        }
    }

    /** Looks at the leases ten times a second, and sends a message each time. Returns the shortest rest of a lease. */
    private static Duration leastLease(TestApplication application, String quick) {
        List<Long> rests = new ArrayList<>();
        AtomicInteger sent = new AtomicInteger();
        int before = HANDLED.get();
        long stop = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        await().atMost(Duration.ofSeconds(SECONDS + 60L))
                .pollInterval(Duration.ofMillis(100))
                .until(() -> {
                    rests.add(application
                            .database()
                            .sql("SELECT (extract(epoch FROM min(lease_until) - clock_timestamp()) * 1000)::bigint"
                                    + " FROM exactly_once_claim WHERE scope = 'orders' AND key LIKE 'held-%'"
                                    + " AND status = 'HELD'")
                            .query(Long.class)
                            .single());
                    SQS.send(quick, "payment-" + sent.incrementAndGet());
                    return System.nanoTime() > stop;
                });
        await().until(() -> HANDLED.get() - before == sent.get());
        return Duration.ofMillis(rests.stream().mapToLong(Long::longValue).min().orElseThrow());
    }

    private static void report(Queue<Answered> answers, Duration least) {
        answers.stream().map(Answered::path).distinct().sorted().forEach(path -> {
            List<Answered> of = answers.stream()
                    .filter(answer -> answer.path().equals(path))
                    .toList();
            List<Long> done = of.stream()
                    .filter(answer -> answer.status() != 503)
                    .map(answer -> TimeUnit.NANOSECONDS.toMillis(answer.nanos()))
                    .sorted()
                    .toList();
            log.info(
                    "{}: {} answers, {} of them 503; the others took {} ms at the median and {} ms at most",
                    path,
                    of.size(),
                    of.size() - done.size(),
                    done.isEmpty() ? null : done.get(done.size() / 2),
                    done.isEmpty() ? null : done.get(done.size() - 1));
        });
        log.info("{} rows, {} readers, {} s: the shortest rest of a lease was {}", ROWS, READERS, SECONDS, least);
    }
}
