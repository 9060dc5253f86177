package io.exactlyonce.benchmarks.drain;

import static io.exactlyonce.benchmarks.worker.Protection.DATABASE;
import static io.exactlyonce.benchmarks.worker.Protection.EXTERNAL;
import static io.exactlyonce.benchmarks.worker.Protection.METADATA_STORE;
import static io.exactlyonce.benchmarks.worker.Protection.NAIVE;
import static io.exactlyonce.benchmarks.worker.Protection.PLAIN;
import static io.exactlyonce.benchmarks.worker.Protection.SHED_LOCK;
import static io.exactlyonce.benchmarks.worker.Protection.TWO_COMMITS;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** (c): every fifth message repeats an earlier order that was sent shortly before. */
public final class DuplicatesScenario implements Scenario {

    private static final int CONCURRENCY = 100;
    private static final int EACH_FIFTH = 5;

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        List<Listener> listeners = Stream.of(PLAIN, EXTERNAL, DATABASE, TWO_COMMITS, NAIVE, METADATA_STORE, SHED_LOCK)
                .filter(protection -> !plan.isShort() || protection == EXTERNAL || protection == NAIVE)
                .map(protection -> Listener.of(protection, CONCURRENCY))
                .toList();
        try (Servers servers = Servers.start()) {
            DrainRace race = DrainRace.run(
                    servers,
                    findings,
                    "Each fifth message a duplicate, no-op handler, concurrency %d, platform threads"
                            .formatted(CONCURRENCY),
                    "c",
                    listeners,
                    EACH_FIFTH,
                    plan);
            findings.figures(Map.of(
                    "c_external_vs_plain", race.ratio(EXTERNAL.label(), PLAIN.label()),
                    "c_database_vs_plain", race.ratio(DATABASE.label(), PLAIN.label()),
                    "c_external_vs_two_commits", race.ratio(EXTERNAL.label(), TWO_COMMITS.label())));
        }
    }
}
