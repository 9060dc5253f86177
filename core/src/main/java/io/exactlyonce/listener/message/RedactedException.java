package io.exactlyonce.listener.message;

import org.jspecify.annotations.Nullable;

/**
 * A failure as it may be logged: what was thrown, where, and for which causes, without any message. Converters, resolvers and
 * expressions quote what a sender has sent, and Spring all of a message with its receipt handle.
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
