package io.exactlyonce.operations;

import io.exactlyonce.claim.transaction.PassiveTransactionListener;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Detects whether the current thread's transaction may still be rolled back. Spring's own flag is not enough, because
 * Spring reports a transaction as active until all callbacks have returned. Two kinds of callbacks run after the
 * commit:
 * <ul>
 *   <li>{@code afterCommit}. This listener adds its own {@code afterCommit}, which runs before the others, and marks
 *       the thread as committed.
 *   <li>{@code afterCompletion}, which also calls {@code @TransactionalEventListener} methods. Spring ends the
 *       transaction's synchronization before this callback. The listener checks the synchronization, so no mark is
 *       needed.
 * </ul>
 *
 * <p>Without this listener, code in {@code afterCommit} counts as part of the transaction.
 */
public final class CommitListener implements PassiveTransactionListener {

    private static final Object COMMITTED = CommitListener.class;

    static boolean mayRollBack() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.hasResource(COMMITTED);
    }

    /**
     * Adds an {@code afterCommit} callback that marks the thread as being after a commit. A transaction without
     * callbacks needs no mark, because no code of the application runs after its commit.
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
     * Marks the thread as committed, before any other {@code afterCommit} is called. Another {@code afterCommit} may
     * begin a new transaction, which may still be rolled back. So the mark is removed while the new transaction is
     * open, and restored when it has ended.
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
