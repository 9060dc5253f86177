package io.exactlyonce.operations;

import io.exactlyonce.claim.transaction.PassiveTransactionListener;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Detects whether the transaction of a thread may still be rolled back. Spring reports a transaction as active until
 * its last callback has returned.
 *
 * <p>Before {@code afterCompletion}, and so before each {@code @TransactionalEventListener} that follows the
 * transaction, Spring ends the synchronization. Before {@code afterCommit}, Spring changes nothing, so this listener
 * registers a mark, which is the first callback to be called there. Without this listener, {@code afterCommit} counts
 * as part of the transaction.
 */
public final class CommitListener implements PassiveTransactionListener {

    private static final Object COMMITTED = CommitListener.class;

    static boolean mayRollBack() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.hasResource(COMMITTED);
    }

    /**
     * Registers the mark when nothing can prevent the commit any more. Without other callbacks, no mark is needed.
     */
    @Override
    public void beforeCommit(TransactionExecution transaction) {
        if (transaction.isNewTransaction()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.getSynchronizations().isEmpty()) {
            TransactionSynchronizationManager.registerSynchronization(new Mark());
        }
    }

    /** The first callback of all. The mark is removed while another transaction suspends this one. */
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
