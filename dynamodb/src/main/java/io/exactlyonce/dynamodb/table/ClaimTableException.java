package io.exactlyonce.dynamodb.table;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/** The DynamoDB table cannot keep claims. */
public final class ClaimTableException extends ExactlyOnceSetupException {

    /**
     * Creates an exception.
     *
     * @param problem the problem, with the value
     * @param remedy the fix
     * @param cause the failure, or {@code null}
     */
    public ClaimTableException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }
}
