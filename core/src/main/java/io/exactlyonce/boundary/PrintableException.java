package io.exactlyonce.boundary;

import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A failure that is safe to log: each message is one line of limited length. Otherwise an attacker who poses as a
 * server could forge log lines, because servers write parts of these messages.
 *
 * <p>Databases quote values in their messages, and a value may be an idempotency key. Most values are in the details
 * after the first line, so only the first line is kept. If it may quote a value, too, only the SQLSTATE is kept. Values
 * that AWS quotes in its messages are removed.
 */
public final class PrintableException extends Exception {

    private static final long serialVersionUID = 1;

    /** Limits the number of causes, because a chain of causes may form a circle. */
    private static final int MOST_CAUSES = 20;

    private static final int LONGEST_MESSAGE = 2_000;

    private static final int LONGEST_REASON = 1_000;

    private static final String POSTGRES = "org.postgresql.";

    /**
     * SQLSTATE classes (the first two characters) whose messages never quote a value: failures of the connection,
     * transaction, session or server.
     */
    private static final Set<String> WITHOUT_VALUES = Set.of("08", "25", "26", "28", "3D", "40", "53", "57", "58");

    /**
     * SQLSTATE classes for which PostgreSQL's messages quote no value in the first line, but only names of tables and
     * constraints. Other databases may quote values there (for example the row of a duplicate key).
     */
    private static final Set<String> WITHOUT_VALUES_IN_POSTGRES = Set.of("0A", "23", "3F", "42", "54", "55", "XX");

    /**
     * SQLSTATE of a syntax error. Its message quotes the statement, a search query or a path. All other messages of
     * class {@code 42} quote no values.
     */
    private static final String SYNTAX = "42601";

    private static final int CLASS = 2;

    private static final int CODE = 5;

    private PrintableException(String text, Throwable failure, @Nullable PrintableException cause) {
        super(text, cause, false, true);
        setStackTrace(failure.getStackTrace());
    }

    /**
     * Returns a copy of the failure that is safe to log. Most failures are already safe, and are returned themselves.
     * Returns {@code null} for {@code null}.
     */
    public static @Nullable Throwable of(@Nullable Throwable failure) {
        if (failure == null) {
            return null;
        }
        Map<String, String> quotes = AwsText.quotesIn(all(failure));
        return !quotesValue(failure) && all(failure).allMatch(each -> isPrintable(each, quotes))
                ? failure
                : copy(failure, isOfDatabase(failure), quotes, MOST_CAUSES);
    }

    /** Describes a failure's last cause: the type of this cause, and the first line of its message. */
    public static String reason(Throwable failure) {
        return text(Causes.root(failure), true, AwsText.quotesIn(all(failure)), LONGEST_REASON);
    }

    /** Returns a failure with all its causes and suppressed exceptions, because a log prints all of them. */
    private static Stream<Throwable> all(Throwable failure) {
        Set<Throwable> all = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> next = new ArrayDeque<>(List.of(failure));
        while (!next.isEmpty()) {
            Throwable each = next.remove();
            if (all.add(each)) {
                Stream.concat(Stream.ofNullable(each.getCause()), Stream.of(each.getSuppressed()))
                        .forEach(next::add);
            }
        }
        return all.stream();
    }

    private static boolean isPrintable(Throwable failure, Map<String, String> quotes) {
        String message = failure.getMessage();
        return message == null || message.equals(OneLine.of(withoutValues(message, quotes), LONGEST_MESSAGE));
    }

    private static boolean isOfDatabase(Throwable failure) {
        return Causes.of(failure).anyMatch(SQLException.class::isInstance);
    }

    private static String withoutValues(String message, Map<String, String> quotes) {
        String shown = message;
        for (Map.Entry<String, String> quote : quotes.entrySet()) {
            shown = shown.replace(quote.getKey(), quote.getValue());
        }
        return shown;
    }

    private static boolean quotesValue(Throwable failure) {
        return all(failure).anyMatch(PrintableException::isQuote);
    }

    /**
     * Returns whether the first line of a failure's message may quote a value. Always true for a failed JDBC batch,
     * because its message quotes the statement with its parameters.
     */
    private static boolean isQuote(Throwable failure) {
        return failure instanceof BatchUpdateException || (failure instanceof SQLException sql && isQuote(sql));
    }

    private static boolean isQuote(SQLException failure) {
        String state = failure.getSQLState();
        if (state == null || state.length() < CLASS) {
            return false;
        }
        String kind = state.substring(0, CLASS);
        boolean isOfPostgres = failure.getClass().getName().startsWith(POSTGRES);
        return !WITHOUT_VALUES.contains(kind)
                && !(isOfPostgres && WITHOUT_VALUES_IN_POSTGRES.contains(kind) && !state.equals(SYNTAX));
    }

    private static PrintableException copy(
            Throwable failure, boolean isOfDatabase, Map<String, String> quotes, int causes) {
        Throwable cause = failure.getCause();
        return new PrintableException(
                text(failure, isOfDatabase, quotes, LONGEST_MESSAGE),
                failure,
                cause == null || causes == 0 ? null : copy(cause, isOfDatabase, quotes, causes - 1));
    }

    /**
     * Returns a failure's type, and its message without values. If the failure or one of its causes quotes a value,
     * returns only the type and the SQLSTATE. A cause matters because a failure often repeats the message of its cause.
     */
    private static String text(Throwable failure, boolean isCut, Map<String, String> quotes, int most) {
        String type = failure.getClass().getName();
        String message = failure.getMessage();
        if (Causes.of(failure).anyMatch(PrintableException::isQuote)) {
            return failure instanceof SQLException sql && sql.getSQLState() != null
                    ? "%s: SQLSTATE %s".formatted(type, OneLine.of(sql.getSQLState(), CODE))
                    : type;
        }
        if (message == null) {
            return type;
        }
        // A value may contain line breaks, so values are removed before the first line is selected.
        String safe = withoutValues(message, quotes);
        String shown = isCut ? safe.lines().findFirst().orElse("") : safe;
        return type + ": " + OneLine.of(shown, most);
    }
}
