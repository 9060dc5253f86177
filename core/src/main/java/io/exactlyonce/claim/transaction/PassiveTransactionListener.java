package io.exactlyonce.claim.transaction;

import org.springframework.transaction.TransactionExecutionListener;

/**
 * A listener of transactions that writes nothing. A store may commit a transaction together with its last statement, before
 * the transaction manager is called, only if no other listener waits for the commit.
 */
public interface PassiveTransactionListener extends TransactionExecutionListener {}
