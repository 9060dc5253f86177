package io.exactlyonce.claim.transaction;

import io.exactlyonce.ExactlyOnceException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a handler's transaction cannot claim or complete its keys. The fault is in the handler or its transaction,
 * and not in the claim store, so other handlers are not affected. The transaction is rolled back. Retries fail until
 * the fault is removed.
 *
 * <p>The message names the fault and the remedy. It can be logged, because it contains neither a key nor a payload.
 */
public final class ClaimTransactionException extends ExactlyOnceException {

    /**
     * Makes an exception.
     *
     * @param message the problem and its remedy, without keys and payloads
     * @param cause the failure that caused the problem, if there is one
     */
    public ClaimTransactionException(String message, @Nullable Throwable cause) {
        super(null, null, message, cause);
    }
}
