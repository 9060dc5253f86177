package io.exactlyonce.primary;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the database cannot store claims: it is unreachable, is not a primary, has unsuitable settings, or lacks
 * the claim table.
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
