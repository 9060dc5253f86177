package io.exactlyonce.benchmarks.volume;

import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Postgres;
import java.util.List;
import java.util.Map;

/** (g): claims in tables of different sizes, retention running. */
public final class VolumeScenario implements Scenario {

    private static final long MILLION = 1_000_000;

    /** {@code -Dbench.rows=50000000} asks for more. */
    private static final long MOST = Long.getLong("bench.rows", 10 * MILLION);

    @Override
    public Map<String, Double> run(Plan plan) throws Exception {
        long most = plan.isShort() ? MILLION / 10 : MOST;
        try (Postgres postgres = new Postgres();
                FullTable empty = new FullTable(postgres, "g_empty", 0);
                FullTable tenth = new FullTable(postgres, "g_tenth", most / 10);
                FullTable full = new FullTable(postgres, "g_full", most)) {
            System.out.printf("%ng: claim and complete, 64 threads, while expired claims are deleted%n%n");
            Measurements measured = Measurements.of(List.of(empty, tenth, full), plan);
            System.out.print(measured.table("keys/s"));
            return Map.of(
                    "g_%dm_vs_empty".formatted(most / MILLION),
                    measured.ratio(full, empty),
                    "g_tenth_vs_empty",
                    measured.ratio(tenth, empty));
        }
    }
}
