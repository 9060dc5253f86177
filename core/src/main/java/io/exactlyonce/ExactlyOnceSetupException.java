package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if settings of the application, its database or its queues prevent claims. Reports the problem and its remedy,
 * also when startup fails.
 */
public abstract class ExactlyOnceSetupException extends ExactlyOnceException {

    private final String problem;
    private final String remedy;

    /**
     * Creates an exception.
     *
     * @param problem what is wrong, with the value
     * @param remedy what to do about it
     * @param cause the failure behind it, if any
     */
    protected ExactlyOnceSetupException(String problem, String remedy, @Nullable Throwable cause) {
        super(null, null, problem + "; " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** Returns the problem, with the value. */
    public final String problem() {
        return problem;
    }

    /** Returns the remedy. */
    public final String remedy() {
        return remedy;
    }
}
