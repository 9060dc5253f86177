package io.exactlyonce.benchmarks.startup;

import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.benchmarks.worker.Protection;
import java.util.List;

/**
 * (h): the startup time of an application with and without the starter. The application either uses its database at
 * startup or does not.
 */
public final class StartUpScenario implements Scenario {

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        try (Servers servers = Servers.start()) {
            StartUp without = new StartUp(servers, Protection.PLAIN, "h_plain", false);
            StartUp with = new StartUp(servers, Protection.EXTERNAL, "h_external", false);
            StartUp withoutBeside = new StartUp(servers, Protection.PLAIN, "h_plain_database", true);
            StartUp withBeside = new StartUp(servers, Protection.EXTERNAL, "h_external_database", true);
            Measurements measured = Measurements.of(
                    List.of(without, with, withoutBeside, withBeside),
                    plan.withRounds(plan.choose(1, plan.rounds() + 1, plan.rounds())));
            findings.table("Start-up", measured.table("ms since the JVM's start"));
            findings.figure("h_startup_ms", measured.median(with) - measured.median(without));
            findings.figure("h_startup_ms_database_used", measured.median(withBeside) - measured.median(withoutBeside));
        }
    }
}
