package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ConcurrentReferenceHashMap;

/**
 * Locks a claim's row in the caller's transaction, so that no other claim can take over the key until that transaction
 * ends.
 */
final class Fence {

    /**
     * Locks the row, so that takeovers and deletions have to wait. The lock is PostgreSQL's weakest row lock, so the
     * owner can still renew, complete and release the claim.
     *
     * <p>If another claim has already taken over the key, no row is found.
     */
    private static final String LOCK = """
            SELECT claim_id FROM {table}
            WHERE scope {=} ? AND key {=} ? AND claim_id {=} ? AND status {=} 'HELD'
            FOR KEY SHARE""";

    private final SameDatabase database;
    private final Supplier<String> lock;

    /** Remembers which DataSources connect to the claim database, because each check costs two statements. */
    private final Map<DataSource, Boolean> known = new ConcurrentReferenceHashMap<>(2);

    Fence(ClaimTable table) {
        this.database = new SameDatabase(table);
        this.lock = table.later(Statements.within(LOCK));
    }

    /**
     * Locks the claim's row until the caller's transaction ends.
     *
     * @return false if the claim does not hold its key any more
     * @throws IllegalStateException if the caller has no open transaction of the claim database
     */
    boolean lock(ClaimId claim) {
        JdbcTemplate transaction = new JdbcTemplate(callersDataSource());
        return Boolean.TRUE.equals(transaction.execute(lock.get(), (PreparedStatement statement) -> {
            new Parameters(statement).values(claim.key().scope(), claim.key().key(), claim.value());
            return Statements.answer(statement).next();
        }));
    }

    private DataSource callersDataSource() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalStateException(
                    "Claim.fence() was called without a transaction, so it has no writes to bind to the claim;"
                            + " call it in the transaction that writes, for example in a @Transactional method");
        }
        List<DataSource> bound = SameDatabase.dataSourcesOfTransaction();
        for (DataSource dataSource : bound) {
            if (known.computeIfAbsent(dataSource, its -> database.isSame(new JdbcTemplate(its)))) {
                return dataSource;
            }
        }
        String problem = bound.isEmpty()
                ? "of a transaction manager that binds no JDBC connection"
                : "of another database: " + SameDatabase.describe(new JdbcTemplate(bound.get(0)));
        throw new IllegalStateException(
                ("Claim.fence() was called in a transaction %s; claims are kept in %s, and only its transactions can be fenced:"
                                + " write there, or make the writes conditional on Claim.fencingToken()")
                        .formatted(problem, database.describeClaims()));
    }
}
