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
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * (f): many deliveries in flight at the same time, each for many visibility timeouts. All contestants run in the same
 * minutes.
 */
public final class InFlightScenario implements Scenario {

    /** The full form. {@code -Dbench.minutes=20} makes it longer. */
    private static final Hold FULL = new Hold(10_000, Integer.getInteger("bench.minutes", 5), 60);

    private static final int WINDOW_SECONDS = 30;
    private static final Hold SHORT = new Hold(200, 1, 12);
    private static final int SHORT_WINDOW_SECONDS = 10;
    private static final int LONG_WINDOW_SECONDS = 3_600;
    private static final List<Protection> ALL =
            List.of(Protection.HELD_EXTERNAL, Protection.HELD_TIMER, Protection.HELD_EXTENDER, Protection.HELD_PLAIN);

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        Hold hold = plan.isShort() ? SHORT : FULL;
        int timeoutSeconds = plan.isShort() ? SHORT_WINDOW_SECONDS : WINDOW_SECONDS;
        Map<Protection, HoldingWorker> workers = new LinkedHashMap<>();
        try (Servers servers = Servers.start()) {
            for (Protection protection : ALL) {
                if (plan.wants(protection)) {
                    int visibility = protection == Protection.HELD_PLAIN ? LONG_WINDOW_SECONDS : timeoutSeconds;
                    workers.put(
                            protection,
                            new HoldingWorker(servers, protection, queue(protection), visibility, hold.messages()));
                }
            }
            Collection<HoldingWorker> all = workers.values();
            // A first run, so that costs of first messages do not count.
            holdAtTheSameTime(all, new Hold(hold.messages() / 10, 0, 0));
            long before = transactions(servers);
            LoadSample begin = LoadSample.now();
            holdAtTheSameTime(all, hold);
            double load = LoadSample.now().elsewherePercentSince(begin);
            double transactions = transactions(servers) - before;
            tell(findings, hold, timeoutSeconds, all);
            findings.note(
                    "SQL transactions of ours, claims and completions included: %,.0f, %.3f per delivery. Load from elsewhere: %.0f %%."
                            .formatted(transactions, transactions / hold.messages(), load));
            findings.figures(figures(workers));
            findings.figure("f_sql_transactions_per_delivery", transactions / hold.messages());
        } finally {
            workers.values().forEach(HoldingWorker::close);
        }
    }

    /** Returns the figures. Contestants that were left out have NaN. */
    private static Map<String, Double> figures(Map<Protection, HoldingWorker> workers) {
        ToDoubleFunction<Protection> changes = of(workers, worker -> worker.median(Hold.Part::changes));
        ToDoubleFunction<Protection> cpu = of(workers, worker -> worker.median(Hold.Part::corePercent));
        ToDoubleFunction<Protection> heap = of(workers, HoldingWorker::heapBytes);
        double ours = changes.applyAsDouble(Protection.HELD_EXTERNAL);
        double plain = heap.applyAsDouble(Protection.HELD_PLAIN);
        return Map.of(
                "f_sqs_requests_vs_timer",
                ours / changes.applyAsDouble(Protection.HELD_TIMER),
                "f_sqs_requests_vs_extender",
                ours / changes.applyAsDouble(Protection.HELD_EXTENDER),
                "f_cpu_core_percent",
                cpu.applyAsDouble(Protection.HELD_EXTERNAL),
                "f_cpu_core_percent_timer",
                cpu.applyAsDouble(Protection.HELD_TIMER),
                "f_cpu_core_percent_extender",
                cpu.applyAsDouble(Protection.HELD_EXTENDER),
                "f_heap_bytes_per_delivery",
                heap.applyAsDouble(Protection.HELD_EXTERNAL) - plain,
                "f_heap_bytes_per_delivery_timer",
                heap.applyAsDouble(Protection.HELD_TIMER) - plain);
    }

    private static ToDoubleFunction<Protection> of(
            Map<Protection, HoldingWorker> workers, ToDoubleFunction<HoldingWorker> figure) {
        return protection ->
                workers.containsKey(protection) ? figure.applyAsDouble(workers.get(protection)) : Double.NaN;
    }

    private static String queue(Protection protection) {
        return "f_" + protection.name().toLowerCase(Locale.ROOT);
    }

    private static void holdAtTheSameTime(Collection<HoldingWorker> workers, Hold hold) throws Exception {
        for (HoldingWorker worker : workers) {
            worker.begin(hold);
        }
        for (HoldingWorker worker : workers) {
            worker.end();
            System.err.printf("f: %s has held %,d messages%n", worker.name(), hold.messages());
        }
    }

    private static void tell(Findings findings, Hold hold, int timeoutSeconds, Collection<HoldingWorker> workers) {
        findings.table(
                "%,d deliveries in flight for %d s, window %d s, each part %d s"
                        .formatted(
                                hold.messages(), hold.parts() * hold.partSeconds(), timeoutSeconds, hold.partSeconds()),
                "| | SQS requests each part | CPU, %% of one core | heap, bytes per delivery | not done right |%n|---|---|---|---|---|%n"
                                .formatted()
                        + workers.stream().map(HoldingWorker::row).collect(Collectors.joining()));
    }

    /** Returns the number of transactions that PostgreSQL counts, which is updated with a small delay. */
    private static long transactions(Servers servers) throws SQLException {
        try (Connection connection = servers.postgres().dataSource("postgres").getConnection();
                Statement statement = connection.createStatement();
                ResultSet counted = statement.executeQuery(
                        "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '%s'"
                                .formatted(queue(Protection.HELD_EXTERNAL)))) {
            counted.next();
            return counted.getLong(1);
        }
    }
}
