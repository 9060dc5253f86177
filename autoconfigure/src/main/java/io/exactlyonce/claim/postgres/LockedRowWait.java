package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import io.exactlyonce.claim.postgres.jdbc.SingleRoundTripQuery;
import io.exactlyonce.claim.postgres.jdbc.SqlStates;
import io.exactlyonce.claim.postgres.jdbc.StatementSettings;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Waits for locked rows, one alone and briefly. Statements for many claims pass locked rows by: a renewal or an end holds
 * its lock for a few milliseconds, but a transaction of an application's that took a key over, for as long as its handler
 * runs.
 */
final class LockedRowWait {

    /** Waits that one call may take: whatever else is locked after them is its caller's to try again. */
    private static final int MAX_WAITS = 5;

    private static final String WAIT = """
            SELECT 1 AS free FROM exactly_once_claim WHERE scope = ? AND key = ? FOR NO KEY UPDATE
            """;

    private final RetryingTransaction transaction;
    private final SingleRoundTripQuery statement;

    /** @param transaction of one statement */
    LockedRowWait(JdbcTemplate jdbc, StatementSettings settings, RetryingTransaction transaction) {
        this.transaction = transaction;
        this.statement = SingleRoundTripQuery.transaction(jdbc, settings.lookUpRowsAndHardlyWait(), WAIT);
    }

    /**
     * Waits for the first row: the transaction that locked it may have locked more, which are then tried again together.
     *
     * @param passed claims whose rows a statement has passed by
     * @param waits how often their call may have waited
     * @return those of them that are not to be tried again
     */
    List<ClaimId> stillLocked(List<ClaimId> passed, int waits) {
        if (passed.isEmpty() || waits >= MAX_WAITS) {
            return passed;
        }
        ClaimId first = passed.get(0);
        return await(first.key()) ? List.of() : List.of(first);
    }

    /** Returns whether a key's row was not locked any more, or does not exist. */
    private boolean await(ClaimKey key) {
        try {
            return transaction.execute(() -> {
                statement.query(
                        parameters -> {
                            parameters.setString(1, key.scope());
                            parameters.setString(2, key.key());
                        },
                        row -> {});
                return true;
            });
        } catch (RuntimeException failure) {
            if (SqlStates.isLockTimeout(failure)) {
                return false;
            }
            throw failure;
        }
    }
}
