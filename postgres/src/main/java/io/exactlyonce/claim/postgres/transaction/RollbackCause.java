package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.transaction.ClaimTransactionException;
import org.springframework.context.ApplicationListener;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.interceptor.MethodRollbackEvent;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Remembers why a transaction was marked for rollback. A method that joins a transaction may throw an exception, and
 * the transaction then ends with an {@link UnexpectedRollbackException} that does not contain it. Spring publishes the
 * method's exception as an event, from which this class takes it.
 *
 * <p>The event is kept among the transaction's synchronizations, because Spring suspends and ends them together with
 * the transaction.
 */
public final class RollbackCause implements ApplicationListener<MethodRollbackEvent> {

    private record Doomed(MethodRollbackEvent event) implements TransactionSynchronization {}

    @Override
    public void onApplicationEvent(MethodRollbackEvent event) {
        boolean hasJoined = !event.getTransaction().isNewTransaction()
                && !event.getTransaction().isNested();
        if (hasJoined && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new Doomed(event));
        }
    }

    /** Returns false, because the event must be handled in the thread of the transaction. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }

    /** Returns the exception for a transaction that was marked for rollback, although its handler returned normally. */
    static ClaimTransactionException doomed(Object transaction) {
        for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
            if (each instanceof Doomed doomed) {
                MethodRollbackEvent event = doomed.event();
                return new ClaimTransactionException(
                        "%s is rolled back: %s, which had joined it, threw %s, and the handler went on; a retry must be around the whole transaction, so let the message be redelivered, or catch the exception within the method that has joined"
                                .formatted(
                                        transaction,
                                        ClassUtils.getQualifiedMethodName(event.getMethod()),
                                        event.getFailure().getClass().getName()),
                        event.getFailure());
            }
        }
        return new ClaimTransactionException(
                "%s is rolled back: it was marked for rollback within the handler, by setRollbackOnly() or by a failure in a TransactionTemplate that had joined it; a retry must be around the whole transaction, so let the message be redelivered"
                        .formatted(transaction),
                null);
    }
}
