package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.postgres.DatabaseIdentity;
import io.exactlyonce.primary.SynchronousCommit;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Claims, works and completes in one transaction of the application's own transaction manager.
 *
 * <p>The key's advisory lock keeps a second transaction from waiting for the first one's commit; the row's primary key
 * decides, and proves that the server is a primary. Until the work is done the row says {@code HELD}, not {@code
 * COMPLETED}: neither is visible before the commit, but if the work commits by itself midway, what it leaves is a
 * doubt, and not a completion that never happened.
 */
public final class PostgresClaimTransaction implements ClaimTransaction {

    private final PlatformTransactionManager transactions;
    private final DataSource dataSource;
    private final JdbcTemplate jdbc;
    private final TransactionalClaim claims;
    private final TransactionalCompletion completion;

    /**
     * @param transactions the application's
     * @param dataSource whose connections its transactions bind
     * @param retention how long a key's row is kept
     * @param synchronousCommit what commits of claims wait for
     */
    public PostgresClaimTransaction(
            PlatformTransactionManager transactions,
            DataSource dataSource,
            Duration retention,
            SynchronousCommit synchronousCommit) {
        this.transactions = transactions;
        this.dataSource = dataSource;
        this.jdbc = new JdbcTemplate(dataSource);
        this.claims = new TransactionalClaim(jdbc, retention, synchronousCommit);
        this.completion = new TransactionalCompletion(jdbc);
    }

    @Override
    public ClaimOutcome execute(ClaimRequest request, Work work) throws Throwable {
        TransactionStatus status = begin(request);
        ClaimOutcome outcome;
        try {
            outcome = claimAndWork(request, work, status);
        } catch (Throwable failure) {
            rollback(status, failure);
            throw failure;
        }
        // A key that was parked is to stay so.
        if (outcome instanceof Acquired || outcome instanceof Parked) {
            transactions.commit(status);
        } else {
            transactions.rollback(status);
        }
        return outcome;
    }

    private TransactionStatus begin(ClaimRequest request) {
        try {
            // A transaction that is open already would be committed after the message is acknowledged.
            return transactions.getTransaction(
                    new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
        } catch (CannotCreateTransactionException unanswered) {
            throw unanswered(request, unanswered);
        }
    }

    private ClaimOutcome claimAndWork(ClaimRequest request, Work work, TransactionStatus status) throws Throwable {
        ClaimOutcome outcome = claim(request);
        if (outcome instanceof Acquired acquired) {
            String result = work.run(acquired);
            if (mayCommit(status)) {
                completion.completeAndCommit(request.id(), result);
            } else {
                completion.complete(request.id(), result);
            }
        }
        return outcome;
    }

    /**
     * Returns whether the manager's commit would be its connection's and nothing else, so that it may go with the completion:
     * the manager then finds no transaction to commit any more. JPA writes what it has not written yet when it commits, and
     * so may a synchronization, a listener of the manager's, or a manager that the application has extended.
     */
    private boolean mayCommit(TransactionStatus status) {
        boolean isPlain = transactions.getClass() == JdbcTransactionManager.class
                || transactions.getClass() == DataSourceTransactionManager.class;
        return isPlain
                && ((DataSourceTransactionManager) transactions)
                        .getTransactionExecutionListeners()
                        .isEmpty()
                && !status.isRollbackOnly()
                && (!TransactionSynchronizationManager.isSynchronizationActive()
                        || TransactionSynchronizationManager.getSynchronizations()
                                .isEmpty());
    }

    private ClaimOutcome claim(ClaimRequest request) {
        try {
            requireTransaction();
            return claims.decide(request);
        } catch (DataIntegrityViolationException unstorable) {
            throw new IllegalArgumentException("PostgreSQL cannot store this key", unstorable);
        } catch (DataAccessException unanswered) {
            throw unanswered(request, unanswered);
        }
    }

    private static ClaimStoreUnavailableException unanswered(ClaimRequest request, RuntimeException failure) {
        return new ClaimStoreUnavailableException("The claim of %s got no answer".formatted(request.key()), failure);
    }

    /** Without one, the lock would be released, and the row committed, before the work begins. */
    private void requireTransaction() {
        if (!DatabaseIdentity.dataSourcesOfTransaction().contains(dataSource)
                || !Boolean.FALSE.equals(jdbc.execute(Connection::getAutoCommit))) {
            throw new IllegalTransactionStateException(
                    "Transaction manager %s began no transaction on the DataSource that it used at start-up"
                            .formatted(transactions));
        }
    }

    private void rollback(TransactionStatus status, Throwable failure) {
        try {
            transactions.rollback(status);
        } catch (RuntimeException | Error connectionLost) {
            failure.addSuppressed(connectionLost);
        }
    }
}
