package io.exactlyonce.claim.postgres.schema;

import io.exactlyonce.ExactlyOnceSetupException;
import org.jspecify.annotations.Nullable;

/** Claims cannot be kept, since their table is not as it has to be. */
public abstract sealed class ClaimSchemaException extends ExactlyOnceSetupException
        permits ClaimTableMissingException, ClaimTableOutdatedException, ClaimTableLockedException {

    ClaimSchemaException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }

    static String migrate(int found) {
        return "set exactly-once.claim.initialize-schema=always, or apply with Flyway or Liquibase: "
                + String.join(", ", ClaimSchema.scriptsAfter(found));
    }
}
