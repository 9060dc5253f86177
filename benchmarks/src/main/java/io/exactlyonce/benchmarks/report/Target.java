package io.exactlyonce.benchmarks.report;

import java.util.List;
import java.util.Map;

/**
 * The target of a figure.
 *
 * @param key the figure's name in {@code results.json}
 * @param what the figure's meaning
 * @param bound the worst acceptable value
 * @param atMost whether smaller values are better
 */
record Target(String key, String what, double bound, boolean atMost) {

    static final List<Target> ALL = List.of(
            atLeast("a_external_vs_plain_c100", "`EXTERNAL` / plain, concurrency 100", 0.75),
            atLeast("a_external_vs_plain_c10", "`EXTERNAL` / plain, concurrency 10", 0.75),
            atLeast("a_external_vs_plain_c100_steady", "`EXTERNAL` / plain, concurrency 100, steady state", 0.65),
            atLeast("a_external_vs_plain_c10_steady", "`EXTERNAL` / plain, concurrency 10, steady state", 0.85),
            atLeast("a_vs_two_commits_c100", "`EXTERNAL` / two plain commits, concurrency 100", 2.0),
            atLeast(
                    "a_vs_two_commits_c100_steady",
                    "`EXTERNAL` / two plain commits, concurrency 100, steady state",
                    2.5),
            atLeast("a_vs_two_commits_c10", "`EXTERNAL` / two plain commits, concurrency 10", 2.0),
            atLeast("a_vs_best_peer_c100", "`EXTERNAL` / the fastest peer, concurrency 100", 1.7),
            atLeast("a_batch_vs_plain_c100", "batch listener / plain, concurrency 100", 1.0),
            atMost("a_client_cpu_vs_plain", "client's CPU time per message, `EXTERNAL` / plain, concurrency 100", 1.4),
            atMost("a_warm_client_cpu_vs_plain", "the same without the JIT compiler", 1.25),
            atMost(
                    "a_client_cpu_vs_plain_steady",
                    "client's CPU time per message, `EXTERNAL` / plain, concurrency 100, steady state",
                    1.1),
            atMost("a_warm_client_cpu_vs_plain_steady", "the same without the JIT compiler, steady state", 1.2),
            atLeast(
                    "b_database_vs_inbox_steady",
                    "`DATABASE` / hand-written inbox, one by one, concurrency 100, steady state",
                    0.75),
            atLeast(
                    "b_database_batch_vs_inbox_batch",
                    "`DATABASE` / hand-written inbox, in batches, concurrency 100",
                    1.0),
            atLeast("b_database_batch_vs_plain", "`DATABASE` batches / plain with the same row, row by row", 1.3),
            atLeast("d_vs_pgbench_batch50", "64 callers / `pgbench` fifty rows", 0.33),
            atLeast("d_tens_vs_pgbench_batch50", "16 callers with ten keys a call / `pgbench` fifty rows", 0.5),
            atMost("e_p50_vs_jdbc", "p50 added / two bare commits", 2.0),
            atMost("f_sqs_requests_vs_timer", "SQS requests / one timer per message", 0.11),
            atMost("f_cpu_core_percent", "CPU of one core with 10,000 in flight, %", 8),
            atMost("f_heap_bytes_per_delivery", "heap per delivery, bytes beyond a plain listener's", 2_048),
            atLeast("g_50m_vs_empty", "50 million rows / empty", 0.7),
            atMost("g_parked_list_ms", "a list of 100 parked keys out of 10 million claims, ms", 50),
            atMost(
                    "h_startup_ms_database_used",
                    "added to the start of an application that uses its database, ms",
                    250),
            atLeast("j_external_vs_plain_c100", "as in the cloud: `EXTERNAL` / plain, concurrency 100", 0.85),
            atLeast("j_external_vs_plain_c10", "as in the cloud: `EXTERNAL` / plain, concurrency 10", 1.05),
            atMost("k_requests_per_message", "requests to DynamoDB a message, concurrency 100", 0.1),
            atMost("k_write_units_per_message", "write units of DynamoDB a message, concurrency 100", 2));

    private static Target atLeast(String key, String what, double bound) {
        return new Target(key, what, bound, false);
    }

    private static Target atMost(String key, String what, double bound) {
        return new Target(key, what, bound, true);
    }

    /** Returns whether the target belongs to a scenario. */
    boolean isOf(String letter) {
        return key.startsWith(letter + "_");
    }

    /** Returns a row of the table of targets. */
    String row(Map<String, Double> reached) {
        Double value = reached.get(key);
        return "| (%s) %s (`%s`) | %s | %s%s | %s |%n"
                .formatted(
                        key.substring(0, 1),
                        what,
                        key,
                        value == null ? "" : number(value),
                        number(bound),
                        atMost ? " at most" : "",
                        value == null ? "not measured" : isMet(value) ? "met" : "missed");
    }

    private boolean isMet(double value) {
        return atMost ? value <= bound : value >= bound;
    }

    private static String number(double value) {
        return (value >= 100 ? "%,.0f" : "%.2f").formatted(value);
    }
}
