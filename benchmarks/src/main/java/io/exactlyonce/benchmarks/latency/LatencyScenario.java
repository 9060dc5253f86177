package io.exactlyonce.benchmarks.latency;

import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.benchmarks.worker.Protection;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** (e): the time that a claim adds to the time for which an application has a message, at low load. */
public final class LatencyScenario implements Scenario {

    private static final int MESSAGES = 200;
    private static final int WARM_UP = 20_000;
    private static final int SHORT_MESSAGES = 20;

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        Plan paced = plan.choose(
                plan.withMessages(SHORT_MESSAGES, SHORT_MESSAGES),
                plan.withMessages(WARM_UP / 2, MESSAGES / 2),
                plan.withMessages(WARM_UP, MESSAGES));
        try (Servers servers = Servers.start();
                PacedListener plain = new PacedListener(servers, Protection.PLAIN, "e_plain");
                PacedListener ours = new PacedListener(servers, Protection.EXTERNAL, "e_external");
                PacedListener byHand = new PacedListener(servers, Protection.TWO_COMMITS, "e_two_commits")) {
            BareCommits bare = new BareCommits(servers.postgres(), "e_two_commits");
            Measurements measured = Measurements.of(List.of(plain, ours, byHand, bare), paced);
            findings.table(
                    "Microseconds from receive to deletion, one message each 20 ms",
                    measured.table("p50, microseconds"));
            findings.figures(Map.of(
                    "e_p50_vs_jdbc",
                    added(measured, ours, plain, bare),
                    "e_two_commits_p50_vs_jdbc",
                    added(measured, byHand, plain, bare),
                    "e_p50_added_micros",
                    measured.median(ours) - measured.median(plain),
                    "e_p99_added_micros",
                    measured.median(ours, PacedListener.P99) - measured.median(plain, PacedListener.P99)));
        }
    }

    /**
     * Returns the median, over the rounds, of the time that a contestant adds to a plain listener, in multiples of two
     * commits.
     */
    private static double added(Measurements measured, Contestant one, Contestant plain, Contestant bare) {
        List<Double> ones = measured.of(one);
        return Measurements.median(IntStream.range(0, ones.size())
                .mapToObj(round -> (ones.get(round) - measured.of(plain).get(round))
                        / measured.of(bare).get(round))
                .toList());
    }
}
