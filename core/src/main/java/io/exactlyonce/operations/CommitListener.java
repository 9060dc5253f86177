package io.exactlyonce.operations;

import io.exactlyonce.claim.transaction.PassiveTransactionListener;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Detects whether the transaction of a thread may still be rolled back. Spring's own answer is not enough, because
 * Spring reports a transaction as active until the last callback after the commit has returned. Two kinds of callbacks
 * run after the commit:
 * <ul>
 * <li>{@code afterCompletion}, from which each {@code @TransactionalEventListener} that follows the transaction is
 * called. Spring ends the synchronization before {@code afterCompletion}, which shows that the transaction has ended.
 * <li>{@code afterCommit}. Spring changes nothing before {@code afterCommit}. So this listener registers a mark, which
 * is the first {@code afterCommit} to be called, and shows the other callbacks that the transaction was committed.
 * </ul>
 *
 * <p>Without this listener, {@code afterCommit} counts as part of the transaction.
 */
public final class CommitListener implements PassiveTransactionListener {

    private static final Object COMMITTED = CommitListener.class;

    static boolean mayRollBack() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.hasResource(COMMITTED);
    }

    /**
     * Registers the mark after all callbacks that could still prevent the commit. Without other callbacks, no mark is
     * needed, because no application code runs in {@code afterCommit}.
     */
    @Override
    public void beforeCommit(TransactionExecution transaction) {
        if (transaction.isNewTransaction()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.getSynchronizations().isEmpty()) {
            TransactionSynchronizationManager.registerSynchronization(new Mark());
        }
    }

    /**
     * The first {@code afterCommit} to be called. The mark is removed from the thread while another transaction
     * suspends the committed one.
     */
    private static final class Mark implements TransactionSynchronization, PriorityOrdered {

        private boolean isCommitted;

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }

        @Override
        public void afterCommit() {
            isCommitted = true;
            resume();
        }

        @Override
        public void suspend() {
            TransactionSynchronizationManager.unbindResourceIfPossible(COMMITTED);
        }

        @Override
        public void resume() {
            if (isCommitted && !TransactionSynchronizationManager.hasResource(COMMITTED)) {
                TransactionSynchronizationManager.bindResource(COMMITTED, this);
            }
        }

        @Override
        public void afterCompletion(int status) {
            suspend();
        }
    }
}
