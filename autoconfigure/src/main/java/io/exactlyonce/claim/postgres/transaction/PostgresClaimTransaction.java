package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.postgres.DatabaseIdentity;
import io.exactlyonce.claim.postgres.jdbc.SqlStates;
import io.exactlyonce.primary.SynchronousCommit;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
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
 * <p>A key's advisory lock keeps a second transaction from waiting for the first one's commit; the row's primary key
 * decides, and proves that the server is a primary. Until the work is done the rows say {@code HELD}, not {@code
 * COMPLETED}: neither is visible before the commit, but if the work commits by itself midway, what it leaves is a
 * doubt, and not a completion that never happened.
 */
public final class PostgresClaimTransaction implements ClaimTransaction {

    /** Class 08: the connection broke. */
    private static final String CONNECTION = "08";

    private static final String SERVER_SHUTS_DOWN = "57P";

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
    public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
        TransactionStatus status = begin(requests);
        List<ClaimOutcome> outcomes = null;
        try {
            outcomes = claimAndWork(requests, work, status);
        } catch (Exception failure) {
            if (!isRolledBack(status, failure)) {
                throw lost(requests, failure);
            }
            throw failure;
        } finally {
            // A crash keeps no connection from its pool.
            if (outcomes == null && !status.isCompleted()) {
                transactions.rollback(status);
            }
        }
        // A key that was parked is to stay so.
        if (outcomes.stream().anyMatch(outcome -> outcome instanceof Acquired || outcome instanceof Parked)) {
            commit(requests, status);
        } else {
            rollback(requests, status);
        }
        return outcomes;
    }

    private TransactionStatus begin(List<ClaimRequest> requests) {
        try {
            // A transaction that is open already would be committed after the message is acknowledged.
            return transactions.getTransaction(
                    new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
        } catch (CannotCreateTransactionException unanswered) {
            throw unanswered(requests, unanswered);
        }
    }

    private List<ClaimOutcome> claimAndWork(List<ClaimRequest> requests, BatchWork work, TransactionStatus status)
            throws Exception {
        String mark = requests.get(0).claimId().toString();
        List<ClaimOutcome> outcomes = claim(requests, mark);
        List<ClaimId> acquired = IntStream.range(0, requests.size())
                .filter(index -> outcomes.get(index) instanceof Acquired)
                .mapToObj(index -> requests.get(index).id())
                .toList();
        if (!acquired.isEmpty()) {
            Map<ClaimId, String> results = work.run(outcomes);
            if (acquired.size() == 1 && mayCommit(status)) {
                completion.completeAndCommit(acquired.get(0), results.get(acquired.get(0)), mark);
            } else {
                completion.complete(acquired, results, mark);
            }
        }
        return outcomes;
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

    private List<ClaimOutcome> claim(List<ClaimRequest> requests, String mark) {
        try {
            requireTransaction();
            return claims.decide(requests, mark);
        } catch (DataAccessException failure) {
            throw SqlStates.unstorable(failure) instanceof IllegalArgumentException unstorable
                    ? unstorable
                    : unanswered(requests, failure);
        }
    }

    private static ClaimStoreUnavailableException unanswered(List<ClaimRequest> requests, RuntimeException failure) {
        List<ClaimKey> keys = requests.stream().map(ClaimRequest::key).toList();
        return new ClaimStoreUnavailableException("The claim of %s got no answer".formatted(keys), failure);
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

    private void commit(List<ClaimRequest> requests, TransactionStatus status) {
        try {
            transactions.commit(status);
        } catch (RuntimeException failure) {
            String state = SqlStates.of(failure);
            throw state.startsWith(CONNECTION) || state.startsWith(SERVER_SHUTS_DOWN)
                    ? lost(requests, failure)
                    : failure;
        }
    }

    /** Nothing was acquired. What could not be rolled back counts as no answer: a message on its last receive waits for one. */
    private void rollback(List<ClaimRequest> requests, TransactionStatus status) {
        try {
            transactions.rollback(status);
        } catch (RuntimeException connectionLost) {
            throw lost(requests, connectionLost);
        }
    }

    private static ClaimStoreUnavailableException lost(List<ClaimRequest> requests, Throwable failure) {
        return new ClaimStoreUnavailableException(
                "The transaction of %s lost its connection"
                        .formatted(requests.get(0).key()),
                failure);
    }

    /** Returns whether there still was a connection for it: work that breaks it may throw anything. */
    private boolean isRolledBack(TransactionStatus status, Throwable failure) {
        try {
            transactions.rollback(status);
            return true;
        } catch (RuntimeException connectionLost) {
            failure.addSuppressed(connectionLost);
            return false;
        }
    }
}
