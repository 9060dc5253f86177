package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * The application, its database or its queues are set up in a way in which keys cannot be claimed. It tells what was
 * observed, and what to do; at start-up, it is reported with both.
 */
public abstract class ExactlyOnceSetupException extends RuntimeException {

    private final String problem;
    private final String remedy;

    /**
     * Makes an exception.
     *
     * @param problem what is wrong, with the value
     * @param remedy what to do about it
     * @param cause why it is wrong, if something else failed
     */
    protected ExactlyOnceSetupException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + "; " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** Returns what is wrong, with the value. */
    public final String problem() {
        return problem;
    }

    /** Returns what to do about it. */
    public final String remedy() {
        return remedy;
    }
}
