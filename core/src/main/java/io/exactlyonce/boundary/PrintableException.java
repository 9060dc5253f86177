package io.exactlyonce.boundary;

import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A failure as a log can take it: each message is one line of bounded length. A server, or what answers in its place, writes the
 * messages of a client's exceptions, and could forge lines with them.
 */
public final class PrintableException extends Exception {

    private static final long serialVersionUID = 1;

    /** Bounds the causes, since they may form a circle. */
    private static final int MOST_CAUSES = 20;

    private static final int LONGEST_MESSAGE = 2_000;

    private PrintableException(String text, Throwable failure, @Nullable PrintableException cause) {
        super(text, cause, false, true);
        setStackTrace(failure.getStackTrace());
    }

    /** Returns a failure itself, if all of its messages are lines already, as most are. */
    public static @Nullable Throwable of(@Nullable Throwable failure) {
        return failure == null || Causes.of(failure).allMatch(PrintableException::isPrintable)
                ? failure
                : copy(failure, MOST_CAUSES);
    }

    private static boolean isPrintable(Throwable failure) {
        return Stream.concat(Stream.of(failure), Stream.of(failure.getSuppressed()))
                .map(Throwable::getMessage)
                .allMatch(message -> message == null || message.equals(OneLine.of(message, LONGEST_MESSAGE)));
    }

    private static PrintableException copy(Throwable failure, int causes) {
        Throwable cause = failure.getCause();
        String message = failure.getMessage();
        String type = failure.getClass().getName();
        return new PrintableException(
                message == null ? type : type + ": " + OneLine.of(message, LONGEST_MESSAGE),
                failure,
                cause == null || causes == 0 ? null : copy(cause, causes - 1));
    }
}
