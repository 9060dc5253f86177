package io.exactlyonce.benchmarks.drain;

import static io.exactlyonce.benchmarks.worker.Protection.BATCH;
import static io.exactlyonce.benchmarks.worker.Protection.DATABASE;
import static io.exactlyonce.benchmarks.worker.Protection.EXTERNAL;
import static io.exactlyonce.benchmarks.worker.Protection.INBOX;
import static io.exactlyonce.benchmarks.worker.Protection.METADATA_STORE;
import static io.exactlyonce.benchmarks.worker.Protection.NAIVE;
import static io.exactlyonce.benchmarks.worker.Protection.PLAIN;
import static io.exactlyonce.benchmarks.worker.Protection.SHED_LOCK;
import static io.exactlyonce.benchmarks.worker.Protection.TWO_COMMITS;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.benchmarks.worker.Protection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** (a): all contestants drain a queue with a handler that does nothing. */
public final class NoOpScenario implements Scenario {

    private static final int FIRST_JAVA_WITH_VIRTUAL_THREADS = 21;

    private static final List<Protection> ALL =
            List.of(PLAIN, EXTERNAL, BATCH, DATABASE, TWO_COMMITS, INBOX, NAIVE, METADATA_STORE, SHED_LOCK);

    /** Libraries that prevent duplicates, whatever their safety. */
    private static final Set<String> PEERS =
            Stream.of(METADATA_STORE, SHED_LOCK).map(Protection::label).collect(Collectors.toSet());

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        try (Servers servers = Servers.start()) {
            for (int concurrency : plan.concurrencies()) {
                findings.figures(platformThreads(servers, findings, plan, concurrency));
                if (plan.form() == Plan.Form.FULL) {
                    findings.figures(virtualThreadsIfThere(servers, findings, plan, concurrency));
                }
            }
        }
    }

    private static Map<String, Double> virtualThreadsIfThere(
            Servers servers, Findings findings, Plan plan, int concurrency) throws Exception {
        if (Runtime.version().feature() >= FIRST_JAVA_WITH_VIRTUAL_THREADS) {
            return virtualThreads(servers, findings, plan, concurrency);
        }
        findings.note("Java %s has no virtual threads".formatted(Runtime.version()));
        return Map.of();
    }

    private static Map<String, Double> platformThreads(Servers servers, Findings findings, Plan plan, int concurrency)
            throws Exception {
        List<Listener> listeners = contestants(plan, concurrency).stream()
                .map(protection -> Listener.of(protection, concurrency))
                .toList();
        DrainRace race = DrainRace.run(
                servers,
                findings,
                "No-op handler, concurrency %d, platform threads".formatted(concurrency),
                "a_c" + concurrency,
                listeners,
                0,
                plan);
        String ours = EXTERNAL.label();
        String suffix = "_c" + concurrency;
        return Map.of(
                "a_external_vs_plain" + suffix, race.ratio(ours, PLAIN.label()),
                "a_client_cpu_vs_plain" + (concurrency == 100 ? "" : suffix),
                        race.ratioOfClientCpu(ours, PLAIN.label()),
                "a_warm_client_cpu_vs_plain" + (concurrency == 100 ? "" : suffix),
                        race.ratioOfWarmClientCpu(ours, PLAIN.label()),
                "a_batch_vs_plain" + suffix, race.ratio(BATCH.label(), PLAIN.label()),
                "a_vs_two_commits" + suffix, race.ratio(ours, TWO_COMMITS.label()),
                "a_vs_naive" + suffix, race.ratio(ours, NAIVE.label()),
                "a_vs_best_peer" + suffix, race.ratioToBest(ours, PEERS::contains));
    }

    /**
     * Returns the contestants. Contestants that are left out here take part in the short forms of other scenarios. At
     * concurrency 100, targets compare more contestants than at 10.
     */
    private static List<Protection> contestants(Plan plan, int concurrency) {
        List<Protection> few = concurrency == 10
                ? List.of(PLAIN, EXTERNAL, TWO_COMMITS)
                : List.of(PLAIN, EXTERNAL, BATCH, TWO_COMMITS, METADATA_STORE);
        return plan.choose(List.of(BATCH, TWO_COMMITS, METADATA_STORE, SHED_LOCK), few, ALL);
    }

    private static Map<String, Double> virtualThreads(Servers servers, Findings findings, Plan plan, int concurrency)
            throws Exception {
        List<Listener> listeners = Stream.of(PLAIN, EXTERNAL)
                .map(protection -> Listener.of(protection, concurrency).with("spring.threads.virtual.enabled=true"))
                .toList();
        DrainRace race = DrainRace.run(
                servers,
                findings,
                "No-op handler, concurrency %d, virtual threads".formatted(concurrency),
                "a_virtual_c" + concurrency,
                listeners,
                0,
                plan);
        return Map.of("a_external_vs_plain_virtual_c" + concurrency, race.ratio(EXTERNAL.label(), PLAIN.label()));
    }
}
