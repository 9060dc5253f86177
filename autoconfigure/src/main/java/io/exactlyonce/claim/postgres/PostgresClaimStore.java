package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimsLockedException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import io.exactlyonce.claim.postgres.jdbc.SingleRoundTripQuery;
import io.exactlyonce.claim.postgres.jdbc.SqlStates;
import io.exactlyonce.claim.postgres.jdbc.StatementSettings;
import io.exactlyonce.primary.SynchronousCommit;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Claims as rows of the table {@code exactly_once_claim}. Each call is one short transaction of its own, or several if
 * it meets the writes of other transactions, and never part of the caller's.
 *
 * <p>Guaranteed: what {@link ClaimStore} guarantees, by the database's clock, for as long as a key's row exists and
 * the DataSource leads to one primary.
 *
 * <p>Not guaranteed: anything across a failover that loses commits (an asynchronous replica), or when the database's
 * clock is set back. A batch with one entry that PostgreSQL cannot store (NUL in a text) fails as a whole.
 */
public final class PostgresClaimStore implements ClaimStore {

    /** Each key may take an advisory lock; the server has some thousands for all of its applications. */
    private static final int LOOKED_AT_ONCE = 500;

    private final LeaseRenewals renewals;
    private final BatchExecutor rounds;
    private final RetryingTransaction oneStatement;
    private final UncommittedKeys uncommitted;
    private final KeyStateQuery states;
    private final FencingLock fence;

    /**
     * @param dataSource reaches only the primary, with READ COMMITTED as its connections' isolation level
     * @param retention how long a key's row is kept, counted from its last claim, or from its completion if that is later
     */
    public PostgresClaimStore(DataSource dataSource, Duration retention) {
        this(dataSource, retention, SynchronousCommit.ON);
    }

    /** @param synchronousCommit what commits wait for: each transaction says it, for a pooler may give it any session */
    public PostgresClaimStore(DataSource dataSource, Duration retention, SynchronousCommit synchronousCommit) {
        var jdbc = new JdbcTemplate(dataSource);
        var settings = new StatementSettings(synchronousCommit);
        this.oneStatement = RetryingTransaction.ofOneStatement();
        var lockedRows = new LockedRowWait(jdbc, settings, oneStatement);
        this.renewals = new LeaseRenewals(jdbc, settings, oneStatement, lockedRows);
        var writing = RetryingTransaction.ofWrites(dataSource, settings);
        TakeoverStep takeovers = new TakeoverStep(writing, new FreeRowUpdates(jdbc, retention), renewals);
        this.rounds =
                new BatchExecutor(oneStatement, new BatchStatement(jdbc, settings, retention), takeovers, lockedRows);
        this.uncommitted = new UncommittedKeys(jdbc, new RetryingTransaction(dataSource));
        this.states =
                new KeyStateQuery(SingleRoundTripQuery.transaction(jdbc, settings.lookUpRows(), KeyStateQuery.SELECT));
        this.fence = new FencingLock(new DatabaseIdentity(dataSource));
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return apply(new ClaimBatch(List.of(), requests)).claimed();
    }

    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> leases) {
        return renewals.renew(leases);
    }

    @Override
    public Set<ClaimId> end(List<? extends ClaimEnd> ends) {
        ClaimBatch.Result result = apply(new ClaimBatch(List.copyOf(ends), List.of()));
        return ClaimsLockedException.requireNone(result.locked(), result.recorded());
    }

    @Override
    public ClaimBatch.Result apply(ClaimBatch batch) {
        try {
            return uncommitted.passBy(batch, rounds::apply);
        } catch (DataAccessException failure) {
            throw SqlStates.unstorable(failure);
        }
    }

    @Override
    public boolean fence(ClaimId claim) {
        return fence.lock(claim);
    }

    @Override
    public Map<ClaimKey, KeyState> look(Collection<ClaimKey> keys) {
        List<ClaimKey> asked = List.copyOf(keys);
        Map<ClaimKey, KeyState> found = new HashMap<>();
        for (int from = 0; from < asked.size(); from += LOOKED_AT_ONCE) {
            List<ClaimKey> portion = asked.subList(from, Math.min(from + LOOKED_AT_ONCE, asked.size()));
            found.putAll(oneStatement.execute(() -> states.read(portion)));
        }
        return found;
    }
}
