package io.exactlyonce.primary;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/** No claim can be kept: the database is not reached, is no primary, is not set as claims need it, or lacks their table. */
public final class ClaimDatabaseException extends ExactlyOnceSetupException {

    /**
     * Makes an exception.
     *
     * @param problem what was observed, with the value
     * @param remedy what to do about it
     * @param cause the failure that told it, if there was one
     */
    public ClaimDatabaseException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }
}
