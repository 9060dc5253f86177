package io.exactlyonce.benchmarks.drain;

import static io.exactlyonce.benchmarks.worker.Protection.EXTERNAL;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import java.util.List;
import java.util.Map;

/** (i): the same listener with and without the starter's meters. */
public final class MetricsScenario implements Scenario {

    private static final int CONCURRENCY = 100;
    private static final String OFF =
            "spring.autoconfigure.exclude=io.exactlyonce.autoconfigure.ExactlyOnceMetricsAutoConfiguration";

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        Listener without =
                Listener.of(EXTERNAL, CONCURRENCY).named("without meters").with(OFF);
        Listener with = Listener.of(EXTERNAL, CONCURRENCY).named("with meters");
        try (Servers servers = Servers.start()) {
            DrainRace race = DrainRace.run(
                    servers,
                    findings,
                    "Meters, no-op handler, EXTERNAL, concurrency %d".formatted(CONCURRENCY),
                    "i",
                    List.of(without, with),
                    0,
                    plan);
            findings.figures(Map.of(
                    "i_metrics_on_vs_off", race.ratio(with.name(), without.name()),
                    "i_client_cpu_on_vs_off", race.ratioOfClientCpu(with.name(), without.name())));
        }
    }
}
