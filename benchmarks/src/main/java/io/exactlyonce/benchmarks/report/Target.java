package io.exactlyonce.benchmarks.report;

import java.util.List;
import java.util.Map;

/**
 * What a figure should reach.
 *
 * @param key its name in {@code results.json}
 * @param what it says
 * @param bound the worst that is good enough
 * @param atMost whether less is better
 */
record Target(String key, String what, double bound, boolean atMost) {

    static final List<Target> ALL = List.of(
            atLeast("a_external_vs_plain_c100", "`EXTERNAL` / plain, concurrency 100", 0.80),
            atLeast("a_external_vs_plain_c10", "`EXTERNAL` / plain, concurrency 10", 0.75),
            atLeast("a_vs_two_commits_c100", "`EXTERNAL` / two plain commits, concurrency 100", 2.0),
            atLeast("a_vs_two_commits_c10", "`EXTERNAL` / two plain commits, concurrency 10", 1.6),
            atLeast("a_vs_best_peer_c100", "`EXTERNAL` / the fastest peer, concurrency 100", 1.7),
            atLeast("a_batch_vs_plain_c100", "batch listener / plain, concurrency 100", 1.0),
            atMost("a_client_cpu_vs_plain", "client's CPU time per message, `EXTERNAL` / plain, concurrency 100", 1.3),
            atLeast("b_database_vs_plain", "`DATABASE` / plain with the same row, concurrency 100", 0.9),
            atLeast("b_database_vs_inbox", "`DATABASE` / hand-written inbox, one by one, concurrency 100", 1.0),
            atLeast("b_database_batch_vs_plain", "`DATABASE` batches / plain with the same row, row by row", 1.3),
            atLeast("d_vs_pgbench_single", "64 callers / `pgbench` one row, 16 clients", 3.5),
            atLeast("d_vs_pgbench_single_10_threads", "10 callers / `pgbench` one row, 8 clients", 1.3),
            atLeast("d_vs_pgbench_batch50", "64 callers / `pgbench` fifty rows", 0.33),
            atLeast("d_tens_vs_pgbench_batch50", "16 callers with ten keys a call / `pgbench` fifty rows", 0.5),
            atMost("e_p50_vs_jdbc", "p50 added / two bare commits", 1.3),
            atMost("f_sqs_requests_vs_timer", "SQS requests / one timer per message", 0.11),
            atMost("f_cpu_core_percent", "CPU of one core with 10,000 in flight, %", 3),
            atMost("f_heap_bytes_per_delivery", "heap per delivery, bytes beyond a plain listener's", 2_048),
            atLeast("g_10m_vs_empty", "10 million rows / empty", 0.8),
            atMost("h_startup_ms", "added to start-up, ms", 200),
            atLeast("j_external_vs_plain_c100", "as in the cloud: `EXTERNAL` / plain, concurrency 100", 0.97),
            atMost("k_requests_per_message", "requests to DynamoDB a message, concurrency 100", 0.1),
            atMost("k_write_units_per_message", "write units of DynamoDB a message, concurrency 100", 2),
            atLeast("j_external_vs_plain_c10", "as in the cloud: `EXTERNAL` / plain, concurrency 10", 0.90));

    private static Target atLeast(String key, String what, double bound) {
        return new Target(key, what, bound, false);
    }

    private static Target atMost(String key, String what, double bound) {
        return new Target(key, what, bound, true);
    }

    /** Returns whether it belongs to a scenario. */
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
