package io.exactlyonce.claim.postgres.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;

/** Tells failures apart by SQLSTATE: of statements that waited too long for a lock, and of those that can never succeed. */
public final class SqlStates {

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    /** Class 54: as an entry of an index that is too large. */
    private static final String LIMIT_EXCEEDED = "54";

    private SqlStates() {}

    /** Returns the outermost SQLSTATE of a failure and its causes, which tells what has failed; empty if there is none. */
    public static String of(Throwable failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return sql.getSQLState();
            }
        }
        return "";
    }

    public static boolean isLockTimeout(RuntimeException failure) {
        return of(failure).equals(LOCK_NOT_AVAILABLE);
    }

    /** Returns what tells that PostgreSQL can never store what was to be written; a failure of another kind as it is. */
    public static RuntimeException unstorable(DataAccessException failure) {
        return failure instanceof DataIntegrityViolationException || of(failure).startsWith(LIMIT_EXCEEDED)
                ? new IllegalArgumentException(
                        "PostgreSQL cannot store one of these keys or results: scope and key have more than 2700 bytes together in"
                                + " UTF-8, or one of them has a NUL character; shorten the scope",
                        failure)
                : failure;
    }
}
