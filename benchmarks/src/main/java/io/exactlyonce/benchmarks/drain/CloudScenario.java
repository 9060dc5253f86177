package io.exactlyonce.benchmarks.drain;

import static io.exactlyonce.benchmarks.worker.Protection.EXTERNAL;
import static io.exactlyonce.benchmarks.worker.Protection.INBOX;
import static io.exactlyonce.benchmarks.worker.Protection.PLAIN;
import static io.exactlyonce.benchmarks.worker.Protection.TWO_COMMITS;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.benchmarks.wire.Delay;
import io.exactlyonce.benchmarks.wire.Histogram;
import io.exactlyonce.benchmarks.wire.SlowWire;
import io.exactlyonce.benchmarks.worker.Protection;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * (j): like (a), but with the response times of SQS and the database in a cloud. All contestants warm up without
 * delays.
 */
public final class CloudScenario implements Scenario {

    private static final Duration SQS_REQUEST = Duration.ofMillis(8);
    private static final Duration DATABASE_ROUND_TRIP = Duration.ofNanos(500_000);

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        try (Servers servers = Servers.start();
                SlowWire sqs = new SlowWire(servers.queues().port());
                SlowWire database = new SlowWire(servers.postgres().port())) {
            Servers far = servers.behind(sqs.port(), database.port());
            for (int concurrency : plan.concurrencies()) {
                sqs.delay().set(Duration.ZERO);
                database.delay().set(Duration.ZERO);
                Runnable moveAway = () -> {
                    sqs.delay().set(SQS_REQUEST);
                    database.delay().set(DATABASE_ROUND_TRIP);
                };
                findings.figures(race(far, findings, plan, concurrency, moveAway));
                findings.table(
                        "Delays that were really given at concurrency %d, microseconds".formatted(concurrency),
                        "| asked for | requests | median | p90 | p99 |%n|---|---|---|---|---|%n%s%s"
                                .formatted(
                                        row("SQS", SQS_REQUEST, sqs.delay()),
                                        row("database", DATABASE_ROUND_TRIP, database.delay())));
            }
        }
    }

    private static Map<String, Double> race(
            Servers far, Findings findings, Plan plan, int concurrency, Runnable afterWarmUp) throws Exception {
        List<Listener> listeners = contestants(plan).stream()
                .map(protection -> Listener.of(protection, concurrency))
                .toList();
        DrainRace race = DrainRace.run(
                far,
                findings,
                "No-op handler, concurrency %d, %d ms for each SQS request and %.1f ms for each round trip to the database"
                        .formatted(concurrency, SQS_REQUEST.toMillis(), DATABASE_ROUND_TRIP.toNanos() / 1e6),
                "j_c" + concurrency,
                listeners,
                0,
                plan.withMessages(plan.warmUp().messages() / 2, messages(plan, concurrency))
                        .withBeforeTurns(afterWarmUp));
        String ours = EXTERNAL.label();
        String suffix = "_c" + concurrency;
        return Map.of(
                "j_external_vs_plain" + suffix, race.ratio(ours, PLAIN.label()),
                "j_external_vs_two_commits" + suffix, race.ratio(ours, TWO_COMMITS.label()),
                "j_external_vs_inbox" + suffix, race.ratio(ours, INBOX.label()),
                "j_client_cpu_vs_plain" + suffix, race.ratioOfClientCpu(ours, PLAIN.label()));
    }

    private static List<Protection> contestants(Plan plan) {
        List<Protection> few = List.of(PLAIN, EXTERNAL);
        return plan.choose(few, few, List.of(PLAIN, EXTERNAL, TWO_COMMITS, INBOX));
    }

    /** Returns the number of messages for a turn of some seconds, even at low concurrency. */
    private static int messages(Plan plan, int concurrency) {
        return concurrency < 50 ? plan.turn().messages() / 5 : plan.turn().messages();
    }

    private static String row(String name, Duration asked, Delay delay) {
        Histogram given = delay.given();
        if (given.count() == 0) {
            throw new IllegalStateException("No request to %s went over the slow wire".formatted(name));
        }
        return "| %s: %,d | %,d | %,.0f | %,.0f | %,.0f |%n"
                .formatted(
                        name,
                        asked.toNanos() / 1_000,
                        given.count(),
                        given.micros(0.5),
                        given.micros(0.9),
                        given.micros(0.99));
    }
}
