package io.exactlyonce.claim.postgres.jdbc;

import io.exactlyonce.primary.SynchronousCommit;

/**
 * What a statement of claims needs set, whatever its session has: what its commit waits for, and what the planner may
 * do.
 *
 * <p>The planner is kept from what looks cheap on a young table: a scan of all of it, or a join by its whole index,
 * would stay when the table has grown. Since it leaves no choice, one plan for all is enough; for small batches the
 * planner would plan each run anew, which takes longer than the run.
 *
 * <p>It is a statement of its own in front of another, and goes with it in one round trip and one transaction, implicit
 * ones included: so it holds for these two only, on whichever connection, also behind a pooler that gives each
 * transaction another session.
 */
public final class StatementSettings {

    /** Keeps what was set, which {@code WHERE} does before {@code SELECT} sets it. */
    private static final String ONLY_BY_INDEX = """
            SELECT set_config('enable_seqscan', 'off', true)
            WHERE set_config('exactly_once.enable_seqscan', current_setting('enable_seqscan'), true) IS NOT NULL;
            """;

    /** Where a proxy has sent the first one to another server, nothing was kept, and what the session began with is set. */
    private static final String AS_BEFORE = """
            ;
            SELECT set_config('enable_seqscan', current_setting('exactly_once.enable_seqscan', true), true)""";

    private static final String COMMIT = "SELECT set_config('synchronous_commit', '%s', true)";

    private static final String INDEXES = ", set_config('enable_seqscan', 'off', true)";

    private static final String LOOK_UP_ROWS = INDEXES + """
            , set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
                   set_config('plan_cache_mode', 'force_generic_plan', true)""";

    private static final String LOCK_TIMEOUT = ", set_config('lock_timeout', '%s', true)";
    private static final String END = ";\n";

    private final String commit;

    /** @param synchronousCommit what commits of claims wait for */
    public StatementSettings(SynchronousCommit synchronousCommit) {
        this.commit = COMMIT.formatted(synchronousCommit.setting());
    }

    /**
     * Returns a statement within a transaction of the application's own, with what it needs set in front of it and taken back behind
     * it: the application's statements are planned as ever. It may join rows of claims to nothing but in a {@code LATERAL} with
     * {@code OFFSET 0}, and by {@code ctid}.
     */
    public static String within(String statement) {
        return ONLY_BY_INDEX + statement + AS_BEFORE;
    }

    /** For the first statement of a transaction that writes rows one by one. */
    String writeRows() {
        return commit + INDEXES;
    }

    /** For a statement that looks many rows up. */
    public String lookUpRows() {
        return commit + LOOK_UP_ROWS + END;
    }

    /**
     * Also bounds the wait for other statements that write the same keys. Those take a few milliseconds; a transaction
     * of an application's that is at work on one of the keys takes as long as its work does.
     */
    public String lookUpRowsAndWaitBriefly() {
        return commit + LOOK_UP_ROWS + LOCK_TIMEOUT.formatted("1s") + END;
    }

    /** For a row that another statement should be through with at once. */
    public String lookUpRowsAndHardlyWait() {
        return commit + LOOK_UP_ROWS + LOCK_TIMEOUT.formatted("100ms") + END;
    }
}
