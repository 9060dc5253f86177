package io.exactlyonce.benchmarks.volume;

import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Postgres;
import io.exactlyonce.benchmarks.report.Findings;
import java.util.List;

/** (g): claims in tables of different sizes while retention runs; then the parked keys of the largest table. */
public final class VolumeScenario implements Scenario {

    private static final long MILLION = 1_000_000;

    /** The largest table. {@code -Dbench.rows=50000000} makes it larger. */
    private static final long MOST = Long.getLong("bench.rows", 10 * MILLION);

    /** {@code -Dbench.only=parked} leaves out everything but the parked keys. */
    private static final String PARKED = "parked";

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        long most = plan.isShort() ? MILLION / 10 : MOST;
        String only = System.getProperty("bench.only", "");
        if (only.equals(PARKED)) {
            try (Postgres postgres = Postgres.withMinimalLog();
                    FullTable full = new FullTable(postgres, "g_full", most)) {
                full.operate(findings);
            }
            return;
        }
        if (!only.isEmpty()) {
            throw new IllegalArgumentException(
                    "bench.only is '%s'; it can be '%s', or missing for all of (g)".formatted(only, PARKED));
        }
        try (Postgres postgres = new Postgres();
                FullTable empty = new FullTable(postgres, "g_empty", 0);
                FullTable tenth = new FullTable(postgres, "g_tenth", most / 10);
                FullTable full = new FullTable(postgres, "g_full", most)) {
            Measurements measured = Measurements.of(List.of(empty, tenth, full), plan);
            findings.table(
                    "Claim and complete, 64 threads, while expired claims are deleted", measured.table("keys/s"));
            findings.figure("g_%dm_vs_empty".formatted(most / MILLION), measured.ratio(full, empty));
            findings.figure("g_tenth_vs_empty", measured.ratio(tenth, empty));
            full.operate(findings);
        }
    }
}
