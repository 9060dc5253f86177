package io.exactlyonce.benchmarks.inflight;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.load.LoadSample;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.benchmarks.worker.Hold;
import io.exactlyonce.benchmarks.worker.Protection;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** (f): many deliveries in flight at the same time, each for many windows; all contestants in the same minutes. */
public final class InFlightScenario implements Scenario {

    /** {@code -Dbench.minutes=20} asks for more. */
    private static final Hold FULL = new Hold(10_000, Integer.getInteger("bench.minutes", 5), 60);

    private static final int WINDOW_SECONDS = 30;
    private static final Hold SHORT = new Hold(200, 1, 12);
    private static final int SHORT_WINDOW_SECONDS = 10;
    private static final int LONG_WINDOW_SECONDS = 3_600;
    private static final String OURS = "f_external";

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        Hold hold = plan.isShort() ? SHORT : FULL;
        int window = plan.isShort() ? SHORT_WINDOW_SECONDS : WINDOW_SECONDS;
        try (Servers servers = Servers.start();
                HoldingWorker ours =
                        new HoldingWorker(servers, Protection.HELD_EXTERNAL, OURS, window, hold.messages());
                HoldingWorker timers =
                        new HoldingWorker(servers, Protection.HELD_TIMER, "f_timer", window, hold.messages());
                HoldingWorker extender =
                        new HoldingWorker(servers, Protection.HELD_EXTENDER, "f_extender", window, hold.messages());
                HoldingWorker plain = new HoldingWorker(
                        servers, Protection.HELD_PLAIN, "f_plain", LONG_WINDOW_SECONDS, hold.messages())) {
            List<HoldingWorker> all = List.of(ours, timers, extender, plain);
            // Once before, so that what only the first messages need is not counted.
            holdAtTheSameTime(all, new Hold(hold.messages() / 10, 0, 0));
            long before = transactions(servers);
            LoadSample begin = LoadSample.now();
            holdAtTheSameTime(all, hold);
            double load = LoadSample.now().elsewherePercentSince(begin);
            double transactions = transactions(servers) - before;
            tell(findings, hold, window, all);
            findings.note(
                    "SQL transactions of ours, claims and completions included: %,.0f, %.3f per delivery. Load from elsewhere: %.0f %%."
                            .formatted(transactions, transactions / hold.messages(), load));
            findings.figures(Map.of(
                    "f_sqs_requests_vs_timer",
                    ours.median(Hold.Part::changes) / timers.median(Hold.Part::changes),
                    "f_sqs_requests_vs_extender",
                    ours.median(Hold.Part::changes) / extender.median(Hold.Part::changes),
                    "f_cpu_core_percent",
                    ours.median(Hold.Part::corePercent),
                    "f_cpu_core_percent_timer",
                    timers.median(Hold.Part::corePercent),
                    "f_cpu_core_percent_extender",
                    extender.median(Hold.Part::corePercent),
                    "f_heap_bytes_per_delivery",
                    ours.heapBytes() - plain.heapBytes(),
                    "f_heap_bytes_per_delivery_timer",
                    timers.heapBytes() - plain.heapBytes(),
                    "f_sql_transactions_per_delivery",
                    transactions / hold.messages()));
        }
    }

    private static void holdAtTheSameTime(List<HoldingWorker> workers, Hold hold) throws Exception {
        for (HoldingWorker worker : workers) {
            worker.begin(hold);
        }
        for (HoldingWorker worker : workers) {
            worker.end();
            System.err.printf("f: %s has held %,d messages%n", worker.name(), hold.messages());
        }
    }

    private static void tell(Findings findings, Hold hold, int window, List<HoldingWorker> workers) {
        findings.table(
                "%,d deliveries in flight for %d s, window %d s, each part %d s"
                        .formatted(hold.messages(), hold.parts() * hold.partSeconds(), window, hold.partSeconds()),
                "| | SQS requests each part | CPU, %% of one core | heap, bytes per delivery | not done right |%n|---|---|---|---|---|%n"
                                .formatted()
                        + workers.stream().map(HoldingWorker::row).collect(Collectors.joining()));
    }

    /** PostgreSQL's own count, which comes a little late. */
    private static long transactions(Servers servers) throws SQLException {
        try (Connection connection = servers.postgres().dataSource("postgres").getConnection();
                Statement statement = connection.createStatement();
                ResultSet counted = statement.executeQuery(
                        "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '%s'"
                                .formatted(OURS))) {
            counted.next();
            return counted.getLong(1);
        }
    }
}
