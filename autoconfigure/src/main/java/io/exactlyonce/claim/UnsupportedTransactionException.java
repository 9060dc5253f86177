package io.exactlyonce.claim;

import org.jspecify.annotations.Nullable;

/** The application's transactions cannot hold claims: they are not transactions of the database that keeps them. */
public final class UnsupportedTransactionException extends RuntimeException {

    private final String problem;
    private final String remedy;

    /**
     * Makes an exception.
     *
     * @param problem what is wrong, with the value
     * @param remedy what to do about it
     * @param cause why it is wrong, if something else failed
     */
    public UnsupportedTransactionException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + "; " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** Returns what is wrong, with the value. */
    public String problem() {
        return problem;
    }

    /** Returns what to do about it. */
    public String remedy() {
        return remedy;
    }
}
