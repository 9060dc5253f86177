package io.exactlyonce.boundary;

import org.jspecify.annotations.Nullable;

/**
 * A copy of a failure that may be logged. It has the types and stack traces of the failure and its causes, but no
 * messages. Exceptions of converters, resolvers and expressions may quote a sender's content. Spring's exceptions may
 * quote a whole message with its receipt handle.
 */
public final class RedactedException extends Exception {

    private static final long serialVersionUID = 1;

    /** Limits the number of causes, because a chain of causes may form a circle. */
    private static final int MOST_CAUSES = 20;

    private RedactedException(Throwable failure, @Nullable RedactedException cause) {
        super(failure.getClass().getName(), cause, false, true);
        setStackTrace(failure.getStackTrace());
    }

    public static RedactedException of(Throwable failure) {
        return of(failure, MOST_CAUSES);
    }

    private static RedactedException of(Throwable failure, int causes) {
        Throwable cause = failure.getCause();
        return new RedactedException(failure, cause == null || causes == 0 ? null : of(cause, causes - 1));
    }
}
