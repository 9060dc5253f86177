package io.exactlyonce.claim.transaction;

import org.springframework.transaction.TransactionExecutionListener;

/**
 * A transaction listener that writes nothing. If all other listeners of a commit are passive, a store may commit a
 * transaction together with its last statement, before the transaction manager is called.
 */
public interface PassiveTransactionListener extends TransactionExecutionListener {}
