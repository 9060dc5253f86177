package io.exactlyonce.benchmarks.drain;

import static io.exactlyonce.benchmarks.worker.Protection.EXTERNAL;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import java.util.List;
import java.util.Map;

/**
 * (i): the same listener with all default observers of deliveries (meters, the watch on visibility timeouts, the log
 * context, application events, the data for audit and endpoint), and without any. Observations are off, which is their
 * default.
 */
public final class MetricsScenario implements Scenario {

    private static final int CONCURRENCY = 100;
    private static final String NO_METERS =
            "spring.autoconfigure.exclude=io.exactlyonce.autoconfigure.ExactlyOnceActuatorAutoConfiguration";
    private static final String UNOBSERVED = "bench.unobserved=true";
    private static final String NO_AUDIT = "exactly-once.audit.mode=off";

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        Listener without = Listener.of(EXTERNAL, CONCURRENCY)
                .named("unobserved")
                .with(NO_METERS)
                .with(UNOBSERVED)
                .with(NO_AUDIT);
        Listener with = Listener.of(EXTERNAL, CONCURRENCY).named("observed, the default");
        try (Servers servers = Servers.start()) {
            DrainRace race = DrainRace.run(
                    servers,
                    findings,
                    "What observes, no-op handler, EXTERNAL, concurrency %d".formatted(CONCURRENCY),
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
