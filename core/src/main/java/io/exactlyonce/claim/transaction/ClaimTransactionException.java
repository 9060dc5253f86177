package io.exactlyonce.claim.transaction;

import io.exactlyonce.ExactlyOnceException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a handler's transaction cannot hold its claims, or cannot be committed together with them, because of the
 * handler or of the transaction's session. The transaction is rolled back. The claim store is available, so other
 * handlers are not affected, and a retry helps only after the cause is removed.
 *
 * <p>The message has the cause and its remedy, and neither key nor payload, so that it can be logged.
 */
public final class ClaimTransactionException extends ExactlyOnceException {

    /**
     * Makes an exception.
     *
     * @param message what is wrong, and what to do about it; without content of messages
     * @param cause the failure behind it, if any
     */
    public ClaimTransactionException(String message, @Nullable Throwable cause) {
        super(null, null, message, cause);
    }
}
