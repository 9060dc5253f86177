package io.exactlyonce.claim.transaction;

import io.exactlyonce.ExactlyOnceException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a handler's transaction cannot hold its claims, or cannot be committed together with them, because of the
 * handler or of the transaction's session. The transaction is rolled back. A retry helps only after the cause is
 * removed. Other handlers are not affected, because the claim store is available.
 *
 * <p>The message names the cause and the remedy. It contains neither a key nor a payload, so that it can be logged.
 */
public final class ClaimTransactionException extends ExactlyOnceException {

    /**
     * Makes an exception.
     *
     * @param message the problem and its remedy, without the content of a message from the queue
     * @param cause the failure that caused the problem, if there is one
     */
    public ClaimTransactionException(String message, @Nullable Throwable cause) {
        super(null, null, message, cause);
    }
}
