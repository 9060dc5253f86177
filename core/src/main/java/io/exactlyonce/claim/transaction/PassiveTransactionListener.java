package io.exactlyonce.claim.transaction;

import org.springframework.transaction.TransactionExecutionListener;

/**
 * Marks a transaction listener that writes nothing when a transaction commits. If a transaction manager has only such
 * listeners, a store may send its last statement together with the {@code COMMIT}. This saves a round trip.
 */
public interface PassiveTransactionListener extends TransactionExecutionListener {}
