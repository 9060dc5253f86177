package io.exactlyonce.primary;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the database cannot store claims: it is unreachable, is not a primary, has unsuitable settings, or lacks
 * the claim table.
 */
public final class ClaimDatabaseException extends ExactlyOnceSetupException {

    /**
     * @param problem what is wrong, with the value that was found
     * @param remedy how to fix it
     */
    public ClaimDatabaseException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }
}
