package io.exactlyonce.boundary;

import org.jspecify.annotations.Nullable;

/**
 * A failure that may be logged: its type, place and causes, without any message. Converters, resolvers and expressions
 * quote a sender's content, and Spring a whole message with its receipt handle.
 */
public final class RedactedException extends Exception {

    private static final long serialVersionUID = 1;

    /** Bounds the causes, since they may form a circle. */
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
