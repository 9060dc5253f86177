package io.exactlyonce.primary;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/**
 * Claims cannot be kept: the database is unreachable, not a primary, not set as claims need it, or lacks their table.
 */
public final class ClaimDatabaseException extends ExactlyOnceSetupException {

    /**
     * Creates an exception.
     *
     * @param problem what was observed, with the value
     * @param remedy the fix
     * @param cause the failure, or {@code null}
     */
    public ClaimDatabaseException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }
}
