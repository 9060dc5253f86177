package io.exactlyonce.dynamodb.table;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/** Thrown if the DynamoDB table cannot keep claims. */
public final class ClaimTableException extends ExactlyOnceSetupException {

    /**
     * Creates an exception.
     *
     * @param problem the problem, with the value that causes it
     * @param remedy what to do about the problem
     * @param cause the failure that caused the problem, or {@code null}
     */
    public ClaimTableException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }
}
