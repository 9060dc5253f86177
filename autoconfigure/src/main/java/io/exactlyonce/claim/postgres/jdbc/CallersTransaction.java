package io.exactlyonce.claim.postgres.jdbc;

import java.util.function.Supplier;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Sets aside the transaction that the calling thread has open, of whichever transaction manager. Otherwise a connection that
 * is taken meanwhile, without a transaction of its own, would be kept to that one's end, and many such callers would leave
 * renewals none.
 */
final class CallersTransaction {

    private static final TransactionTemplate SUSPENDING = suspending();

    private CallersTransaction() {}

    /** Works as if the caller had no transaction open. */
    static <T> T setAside(Supplier<T> work) {
        return TransactionSynchronizationManager.isSynchronizationActive()
                ? SUSPENDING.execute(nothing -> work.get())
                : work.get();
    }

    private static TransactionTemplate suspending() {
        var suspending = new TransactionTemplate(new OfNothing());
        suspending.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        return suspending;
    }

    /** Has no resource of its own, and no synchronization that connections could be bound to. */
    private static final class OfNothing extends AbstractPlatformTransactionManager {

        OfNothing() {
            setTransactionSynchronization(SYNCHRONIZATION_NEVER);
        }

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }
}
