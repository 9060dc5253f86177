package io.exactlyonce.claim.transaction;

import org.springframework.transaction.TransactionExecutionListener;

/**
 * A transaction listener that writes nothing when a transaction commits. If all listeners of a transaction manager are
 * passive, a store may send its last statement together with the {@code COMMIT}. This saves a round trip.
 */
public interface PassiveTransactionListener extends TransactionExecutionListener {}
