package io.exactlyonce.benchmarks.drain;

import static io.exactlyonce.benchmarks.worker.Protection.DATABASE;
import static io.exactlyonce.benchmarks.worker.Protection.EXTERNAL;
import static io.exactlyonce.benchmarks.worker.Protection.PLAIN;
import static io.exactlyonce.benchmarks.worker.Protection.TWO_COMMITS;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** (b): all contestants drain a queue with a handler that writes one row. */
public final class RowScenario implements Scenario {

    @Override
    public Map<String, Double> run(Plan plan) throws Exception {
        Map<String, Double> ratios = new TreeMap<>();
        try (Servers servers = Servers.start()) {
            for (int concurrency : plan.concurrencies()) {
                ratios.putAll(race(servers, plan, concurrency, concurrency == 100 ? "" : "_c" + concurrency));
            }
        }
        return ratios;
    }

    private static Map<String, Double> race(Servers servers, Plan plan, int concurrency, String suffix)
            throws Exception {
        List<Listener> listeners = Stream.of(PLAIN, DATABASE, EXTERNAL, TWO_COMMITS)
                .filter(protection -> !plan.isShort() || protection == PLAIN || protection == DATABASE)
                .map(protection -> Listener.of(protection, concurrency).with("bench.writes=true"))
                .toList();
        DrainRace race = DrainRace.run(
                servers,
                "b: a handler that writes one row, concurrency %d, platform threads".formatted(concurrency),
                "b_c" + concurrency,
                listeners,
                0,
                plan);
        String plain = PLAIN.label();
        return Map.of(
                "b_database_vs_plain" + suffix, race.ratio(DATABASE.label(), plain),
                "b_external_vs_plain" + suffix, race.ratio(EXTERNAL.label(), plain),
                "b_database_vs_two_commits" + suffix, race.ratio(DATABASE.label(), TWO_COMMITS.label()));
    }
}
