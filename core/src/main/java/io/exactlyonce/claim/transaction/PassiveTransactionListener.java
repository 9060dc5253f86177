package io.exactlyonce.claim.transaction;

import org.springframework.transaction.TransactionExecutionListener;

/**
 * Marks a transaction listener that writes nothing when a transaction commits. If all listeners of a transaction
 * manager have this type, a store may send its last statement together with the {@code COMMIT}, to save a round trip.
 */
public interface PassiveTransactionListener extends TransactionExecutionListener {}
