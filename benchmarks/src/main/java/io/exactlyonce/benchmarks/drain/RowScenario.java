package io.exactlyonce.benchmarks.drain;

import static io.exactlyonce.benchmarks.worker.Protection.DATABASE;
import static io.exactlyonce.benchmarks.worker.Protection.DATABASE_BATCH;
import static io.exactlyonce.benchmarks.worker.Protection.EXTERNAL;
import static io.exactlyonce.benchmarks.worker.Protection.INBOX;
import static io.exactlyonce.benchmarks.worker.Protection.INBOX_BATCH;
import static io.exactlyonce.benchmarks.worker.Protection.PLAIN;
import static io.exactlyonce.benchmarks.worker.Protection.TWO_COMMITS;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.benchmarks.worker.Protection;
import java.util.List;
import java.util.Map;

/** (b): all contestants drain a queue with a handler that writes one row. */
public final class RowScenario implements Scenario {

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        try (Servers servers = Servers.start()) {
            for (int concurrency : plan.choose(plan.concurrencies(), List.of(100), plan.concurrencies())) {
                findings.figures(race(servers, findings, plan, concurrency));
            }
        }
    }

    private static Map<String, Double> race(Servers servers, Findings findings, Plan plan, int concurrency)
            throws Exception {
        List<Listener> listeners = contestants(plan).stream()
                .map(protection -> Listener.of(protection, concurrency).with("bench.writes=true"))
                .toList();
        DrainRace race = DrainRace.run(
                servers,
                findings,
                "A handler that writes one row, concurrency %d, platform threads".formatted(concurrency),
                "b_c" + concurrency,
                listeners,
                0,
                plan);
        String suffix = concurrency == 100 ? "" : "_c" + concurrency;
        String plain = PLAIN.label();
        return Map.of(
                "b_database_vs_plain" + suffix, race.ratio(DATABASE.label(), plain),
                "b_external_vs_plain" + suffix, race.ratio(EXTERNAL.label(), plain),
                "b_database_vs_two_commits" + suffix, race.ratio(DATABASE.label(), TWO_COMMITS.label()),
                "b_database_vs_inbox" + suffix, race.ratio(DATABASE.label(), INBOX.label()),
                "b_database_batch_vs_plain" + suffix, race.ratio(DATABASE_BATCH.label(), plain),
                "b_database_batch_vs_inbox_batch" + suffix, race.ratio(DATABASE_BATCH.label(), INBOX_BATCH.label()));
    }

    private static List<Protection> contestants(Plan plan) {
        return plan.choose(
                List.of(DATABASE, INBOX, DATABASE_BATCH, INBOX_BATCH),
                List.of(PLAIN, DATABASE, INBOX, DATABASE_BATCH),
                List.of(PLAIN, DATABASE, INBOX, DATABASE_BATCH, INBOX_BATCH, EXTERNAL, TWO_COMMITS));
    }
}
