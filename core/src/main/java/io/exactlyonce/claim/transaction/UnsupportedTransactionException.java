package io.exactlyonce.claim.transaction;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the application's transactions cannot hold claims, for example because they do not use the database that
 * stores the claims.
 */
public final class UnsupportedTransactionException extends ExactlyOnceSetupException {

    /**
     * Makes an exception.
     *
     * @param problem the problem, with the value that causes it
     * @param remedy what to do about the problem
     * @param cause the failure that caused the problem, if there is one
     */
    public UnsupportedTransactionException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }
}
