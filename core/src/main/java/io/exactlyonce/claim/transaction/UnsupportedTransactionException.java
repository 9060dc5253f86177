package io.exactlyonce.claim.transaction;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/** Thrown if the application's transactions do not use the database that stores the claims. */
public final class UnsupportedTransactionException extends ExactlyOnceSetupException {

    /**
     * Makes an exception.
     *
     * @param problem what is wrong, with the value
     * @param remedy what to do about it
     * @param cause the failure behind it, if any
     */
    public UnsupportedTransactionException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }
}
