package io.exactlyonce.operations;

import io.exactlyonce.claim.transaction.PassiveTransactionListener;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Detects whether the transaction of a thread may still be rolled back. Spring cannot tell: it reports a transaction as
 * active until its last callback has returned, even if the callback runs after the commit. There are two such
 * callbacks:
 * <ul>
 * <li>{@code afterCompletion}, which also calls {@code @TransactionalEventListener} methods. Spring ends the
 * synchronization before this callback, and this shows that the transaction has ended.
 * <li>{@code afterCommit}. Spring changes nothing before this callback. So the listener adds its own {@code
 * afterCommit}, which runs first and marks the thread as committed.
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
     * Adds the {@code afterCommit} that marks the thread. Spring calls this method after all callbacks that could still
     * prevent the commit. If there are no other callbacks, no application code runs in {@code afterCommit}, and no mark
     * is needed.
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
     * Marks the thread as committed, before any other {@code afterCommit} is called. The mark is removed while another
     * transaction suspends the committed one.
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
