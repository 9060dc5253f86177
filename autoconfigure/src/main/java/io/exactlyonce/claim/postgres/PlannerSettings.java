package io.exactlyonce.claim.postgres;

/**
 * Keeps the planner from what looks cheap on a young table: a scan of all of it, or a join by its whole index, would stay
 * when the table has grown. Since it leaves no choice, one plan for all is enough; for small batches the planner would
 * plan each run anew, which takes longer than the run.
 *
 * <p>It is a statement of its own in front of another, and goes with it in one round trip and one transaction, implicit
 * ones included: so it holds for these two only, on whichever connection, also behind a proxy that shares connections.
 */
final class PlannerSettings {

    private static final String SELECT = """
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
                   set_config('enable_mergejoin', 'off', true),
                   set_config('plan_cache_mode', 'force_generic_plan', true)""";

    static final String LOOK_UP_ROWS = SELECT + ";\n";

    /**
     * Also bounds the wait for others that write the same keys, which takes them a few milliseconds: unless a transaction of
     * an application's is at work on one of them, for as long as that takes.
     */
    static final String LOOK_UP_ROWS_AND_WAIT_BRIEFLY = SELECT + ", set_config('lock_timeout', '1s', true);\n";

    /** For a row that somebody else's statement should be through with at once. */
    static final String LOOK_UP_ROWS_AND_HARDLY_WAIT = SELECT + ", set_config('lock_timeout', '100ms', true);\n";

    private PlannerSettings() {}
}
