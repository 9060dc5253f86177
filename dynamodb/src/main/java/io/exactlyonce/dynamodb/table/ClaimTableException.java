package io.exactlyonce.dynamodb.table;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/** Claims cannot be kept in the table. */
public final class ClaimTableException extends ExactlyOnceSetupException {

    /**
     * Makes an exception.
     *
     * @param problem what is wrong, with the value
     * @param remedy what to do about it
     * @param cause why it is wrong, if something else failed
     */
    public ClaimTableException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }
}
