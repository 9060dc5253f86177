package io.exactlyonce.operations;

import java.util.ArrayDeque;
import java.util.Deque;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactions without a resource. A transaction is active until its callbacks have returned, as with JDBC. */
public final class ScriptedTransactions extends AbstractPlatformTransactionManager {

    private static final long serialVersionUID = 1;

    private final transient Deque<Object> open = new ArrayDeque<>();

    /** An action that runs while a transaction commits. */
    private transient Runnable duringCommit = () -> {};

    public ScriptedTransactions() {
        setNestedTransactionAllowed(true);
    }

    void duringCommit(Runnable action) {
        duringCommit = action;
    }

    /** Runs an action in a transaction with a propagation of {@link TransactionDefinition}. */
    public void run(int propagation, Runnable action) {
        TransactionTemplate template = new TransactionTemplate(this);
        template.setPropagationBehavior(propagation);
        template.executeWithoutResult(status -> action.run());
    }

    @Override
    protected Object doGetTransaction() {
        return new Object();
    }

    @Override
    protected boolean isExistingTransaction(Object transaction) {
        return !open.isEmpty();
    }

    @Override
    protected boolean useSavepointForNestedTransaction() {
        return false;
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
        open.push(transaction);
    }

    @Override
    protected Object doSuspend(Object transaction) {
        return open.pop();
    }

    @Override
    protected void doResume(@org.jspecify.annotations.Nullable Object transaction, Object suspended) {
        open.push(suspended);
    }

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
        duringCommit.run();
    }

    @Override
    protected void doRollback(DefaultTransactionStatus status) {}

    @Override
    protected void doSetRollbackOnly(DefaultTransactionStatus status) {}

    @Override
    protected void doCleanupAfterCompletion(Object transaction) {
        open.pop();
    }
}
