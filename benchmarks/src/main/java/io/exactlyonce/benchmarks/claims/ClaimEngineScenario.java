package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.report.Findings;
import java.util.List;
import java.util.Map;

/** Compares threads that claim and complete keys with the same statements without an engine, in the same minute. */
public final class ClaimEngineScenario implements Scenario {

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        try (BenchmarkDatabase database = new BenchmarkDatabase()) {
            measure(database, plan, findings);
        }
    }

    private static void measure(BenchmarkDatabase database, Plan plan, Findings findings) throws Exception {
        RawStatements raw = RawStatements.find(database, findings);
        Contestant single8 = raw.single(8);
        Contestant single16 = raw.single(16);
        Contestant batch50 = raw.batchOfFifty(8);
        Contestant engine1 = new EngineThreads(database, 1, 1);
        Contestant engine10 = new EngineThreads(database, 10, 1);
        Contestant engine64 = new EngineThreads(database, 64, 1);
        Contestant tens = new EngineThreads(database, 16, 10);
        Contestant engine128 = new EngineThreads(database, 128, 1);
        List<Contestant> compared = List.of(engine64, single16, tens, batch50);
        List<Contestant> all = List.of(engine1, engine10, single8, engine64, single16, tens, batch50, engine128);
        Measurements measured = Measurements.of(plan.choose(all, compared, all), plan);
        findings.table("Claim and complete, keys a second; PostgreSQL durable", measured.table("keys/s"));
        findings.figures(Map.of(
                "d_vs_pgbench_single", measured.ratio(engine64, single16),
                "d_vs_pgbench_batch50", measured.ratio(engine64, batch50),
                "d_tens_vs_pgbench_batch50", measured.ratio(tens, batch50)));
        if (plan.form() != Plan.Form.QUICK) {
            findings.figure("d_vs_pgbench_single_10_threads", measured.ratio(engine10, single8));
        }
    }
}
