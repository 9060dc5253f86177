package io.exactlyonce.claim.postgres.schema;

import org.jspecify.annotations.Nullable;

/** Claims cannot be kept, since their table is not as it has to be. */
public abstract sealed class ClaimSchemaException extends RuntimeException
        permits ClaimTableMissingException, ClaimTableOutdatedException, ClaimTableLockedException {

    private final String problem;
    private final String remedy;

    ClaimSchemaException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + ": " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** Returns what was observed, and where. */
    public String problem() {
        return problem;
    }

    /** Returns what to do about it. */
    public String remedy() {
        return remedy;
    }

    static String migrate(int found) {
        return "set exactly-once.claim.initialize-schema=always, or apply with Flyway or Liquibase: "
                + String.join(", ", ClaimSchema.scriptsAfter(found));
    }
}
