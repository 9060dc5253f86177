package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if settings of the application, its database or its queues prevent claims. Contains the problem and its
 * remedy. If startup fails, Spring Boot prints both.
 */
public abstract class ExactlyOnceSetupException extends ExactlyOnceException {

    private final String problem;
    private final String remedy;

    /**
     * Creates an exception.
     *
     * @param problem what is wrong, with the value that is to blame
     * @param remedy how to correct it
     * @param cause the cause; {@code null} if there is none
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
