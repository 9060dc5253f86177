package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.boot.WebApplicationType;

/**
 * Records the series of an application in trouble, and writes them to {@code
 * docs/observability/alerts-recorded-tests.yml}, which promtool tests in every build. The tests then show that the
 * right alerts fire on real series. The trouble has three parts. Handlers grow from 3 s to 45 s with a visibility
 * timeout of 30 s, as in the incident. A parked key's message ends in the dead-letter queue. From the fifth minute on,
 * a sender sends each message twice.
 */
@UsesSqs
@EnabledIfSystemProperty(
        named = "alerts.record",
        matches = "true",
        disabledReason = "It records for 13 minutes: -Dalerts.record=true")
class AlertsRecordingIT {

    private static final SqsServer SQS = SqsServer.shared();

    private static final Duration INTERVAL = Duration.ofSeconds(15);
    private static final Duration LENGTH = Duration.ofMinutes(13);
    private static final Duration GROWS_FROM = Duration.ofMinutes(1);
    private static final Duration GROWS_UNTIL = Duration.ofMinutes(9);
    private static final Duration TWICE_FROM = Duration.ofMinutes(5);
    private static final double FASTEST = 3;
    private static final double SLOWEST = 45;
    private static final int POISON = 60;

    private static final Pattern METER = Pattern.compile("\\bexactly_once_[a-z_]+");
    private static final Pattern SAMPLE = Pattern.compile("(?m)^(exactly_once_[a-z_]+(?:\\{[^}]*})?) (\\S+)$");

    static class Listener {
        private final CountDownLatch never = new CountDownLatch(1);
        private final long start = System.nanoTime();

        @ExactlyOnceListener(
                id = "orders",
                queueNames = "orders",
                key = "#order",
                maxConcurrentMessages = "100",
                parkFor = IllegalArgumentException.class)
        void handle(String order) throws InterruptedException {
            if (order.equals("o" + POISON)) {
                throw new IllegalArgumentException("no such article");
            }
            double part = (System.nanoTime() - start - GROWS_FROM.toNanos())
                    / (double) GROWS_UNTIL.minus(GROWS_FROM).toNanos();
            double seconds = FASTEST + (SLOWEST - FASTEST) * Math.min(1, Math.max(0, part));
            boolean unused = never.await((long) (seconds * 1_000), TimeUnit.MILLISECONDS);
        }
    }

    private final Map<String, List<String>> series = new TreeMap<>();
    private final AtomicInteger samples = new AtomicInteger();

    @Test
    void recordsAnApplicationInTrouble() throws Exception {
        Path directory = Path.of("../docs/observability");
        List<String> meters = METER.matcher(Files.readString(directory.resolve("alerts.yml")))
                .results()
                .map(found -> found.group())
                .distinct()
                .toList();
        SQS.createQueue("orders-dead", 30);
        SQS.createQueue("orders", 30);
        SQS.setDeadLetterQueue("orders", "orders-dead", 5);
        try (TestApplication application = TestApplication.start(
                WebApplicationType.SERVLET,
                EmbeddedDatabase.shared().createDatabase(),
                Map.of("management.endpoints.web.exposure.include", "prometheus"),
                Listener.class)) {
            String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
            record(meters, port);
        }
        write(directory.resolve("alerts-recorded-tests.yml"));
        assertThat(series).hasSizeGreaterThan(10);
    }

    private void record(List<String> meters, String port) throws InterruptedException {
        long start = System.nanoTime();
        AtomicInteger orders = new AtomicInteger();
        CountDownLatch recorded = new CountDownLatch((int) LENGTH.dividedBy(INTERVAL) + 1);
        ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
        try {
            threads.scheduleAtFixedRate(
                    () -> {
                        String order = "o" + orders.incrementAndGet();
                        SQS.send("orders", order);
                        if (System.nanoTime() - start > TWICE_FROM.toNanos()) {
                            SQS.send("orders", order);
                        }
                    },
                    0,
                    2,
                    TimeUnit.SECONDS);
            threads.scheduleAtFixedRate(
                    () -> {
                        sample(meters, scrape(port));
                        recorded.countDown();
                    },
                    0,
                    INTERVAL.toSeconds(),
                    TimeUnit.SECONDS);
            assertThat(recorded.await(2 * LENGTH.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } finally {
            threads.shutdownNow();
        }
    }

    private static String scrape(String port) {
        URI uri = URI.create("http://127.0.0.1:" + port + "/actuator/prometheus");
        try {
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (IOException | InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private void sample(List<String> meters, String scrape) {
        int earlier = samples.getAndIncrement();
        Matcher found = SAMPLE.matcher(scrape);
        while (found.find()) {
            String name = found.group(1).replaceFirst("\\{.*", "");
            if (meters.contains(name)) {
                series.computeIfAbsent(found.group(1), key -> new ArrayList<>(Collections.nCopies(earlier, "_")))
                        .add(found.group(2));
            }
        }
        series.values().stream().filter(values -> values.size() == earlier).forEach(values -> values.add("_"));
    }

    private void write(Path file) throws IOException {
        String recorded = series.entrySet().stream()
                .map(entry -> "      - series: '%s'%n        values: '%s'"
                        .formatted(entry.getKey(), String.join(" ", entry.getValue())))
                .collect(Collectors.joining("\n"));
        Files.writeString(file, HEAD + recorded + "\n" + EXPECTED);
    }

    private static final String HEAD = """
            # promtool test rules alerts-recorded-tests.yml. The series are of a real run: AlertsRecordingIT scraped an application every
            # 15 s for 13 minutes, of one listener, PostgreSQL and ElasticMQ, whose handlers grew from 3 s to 45 s between the minutes 1 and 9 in a window
            # of 30 s; one message had to be parked, and from minute 5 on everything was sent twice. Nothing is scaled or made up. Again:
            # ./mvnw -pl integration-tests -am verify -Dit.test=AlertsRecordingIT -Dtest=none -Dsurefire.failIfNoSpecifiedTests=false -Dalerts.record=true
            rule_files:
              - alerts.yml
            evaluation_interval: 15s
            tests:
              - interval: 15s
                input_series:
            """;

    /** Leaves a minute to spare, because another run's alerts may fire a little earlier or later. */
    private static final String EXPECTED = Stream.of(
                    "    promql_expr_test:",
                    firing("2m"),
                    firing("6m", "DeadLetters", "WindowNear"),
                    firing("12m", "DeadLetters", "DeletesExceedCompletions", "Parked", "WindowNear", "WindowOverrun"))
            .collect(Collectors.joining("\n", "", "\n"));

    private static String firing(String time, String... alerts) {
        String samples = Stream.of(alerts)
                .map(alert ->
                        "          - labels: '{alertname=\"ExactlyOnce%s\"}'%n            value: 1".formatted(alert))
                .collect(Collectors.joining("\n"));
        return "      - expr: 'count by (alertname) (ALERTS{alertstate=\"firing\"})'%n        eval_time: %s%n        exp_samples:%s"
                .formatted(time, alerts.length == 0 ? " []" : "\n" + samples);
    }
}
