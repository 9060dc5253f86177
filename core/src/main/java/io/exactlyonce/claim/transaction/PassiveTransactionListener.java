package io.exactlyonce.claim.transaction;

import org.springframework.transaction.TransactionExecutionListener;

/**
 * A transaction listener that writes nothing when a transaction commits. If all listeners of a transaction manager are
 * passive, a store may send the {@code COMMIT} together with the transaction's last statement, before the manager
 * commits.
 */
public interface PassiveTransactionListener extends TransactionExecutionListener {}
