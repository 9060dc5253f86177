package io.exactlyonce.boundary;

import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A failure that is safe to log: each message is one line of bounded length. The messages of a client's exceptions come
 * from a server, or from an impostor, which could forge log lines.
 *
 * <p>Of a database's failure only the first line of each message is kept, because the details contain values of the
 * refused row, such as its key. A message that quotes a batch is left out for the same reason.
 */
public final class PrintableException extends Exception {

    private static final long serialVersionUID = 1;

    /** Bounds the causes, since they may form a circle. */
    private static final int MOST_CAUSES = 20;

    private static final int LONGEST_MESSAGE = 2_000;

    private static final int LONGEST_REASON = 1_000;

    private PrintableException(String text, Throwable failure, @Nullable PrintableException cause) {
        super(text, cause, false, true);
        setStackTrace(failure.getStackTrace());
    }

    /** Returns the failure itself if each of its messages is one line already, as is usual. */
    public static @Nullable Throwable of(@Nullable Throwable failure) {
        return failure == null
                        || (!quotesBatch(failure) && Causes.of(failure).allMatch(PrintableException::isPrintable))
                ? failure
                : copy(failure, isOfDatabase(failure), MOST_CAUSES);
    }

    /** Returns the type of a failure's last cause, and the first line of its message. */
    public static String reason(Throwable failure) {
        return text(Causes.root(failure), true, LONGEST_REASON);
    }

    private static boolean isPrintable(Throwable failure) {
        return Stream.concat(Stream.of(failure), Stream.of(failure.getSuppressed()))
                .map(Throwable::getMessage)
                .allMatch(message -> message == null || message.equals(OneLine.of(message, LONGEST_MESSAGE)));
    }

    private static boolean isOfDatabase(Throwable failure) {
        return Causes.of(failure).anyMatch(SQLException.class::isInstance);
    }

    /** Returns whether a message quotes the statements of a batch with their parameters. */
    private static boolean quotesBatch(Throwable failure) {
        return Causes.of(failure).anyMatch(BatchUpdateException.class::isInstance);
    }

    private static PrintableException copy(Throwable failure, boolean isOfDatabase, int causes) {
        Throwable cause = failure.getCause();
        return new PrintableException(
                text(failure, isOfDatabase, LONGEST_MESSAGE),
                failure,
                cause == null || causes == 0 ? null : copy(cause, isOfDatabase, causes - 1));
    }

    private static String text(Throwable failure, boolean isCut, int most) {
        String type = failure.getClass().getName();
        String message = failure.getMessage();
        if (message == null || quotesBatch(failure)) {
            return type;
        }
        String shown = isCut ? message.lines().findFirst().orElse("") : message;
        return type + ": " + OneLine.of(shown, most);
    }
}
