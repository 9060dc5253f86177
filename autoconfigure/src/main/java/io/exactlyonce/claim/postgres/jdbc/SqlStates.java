package io.exactlyonce.claim.postgres.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Recognizes failures of statements that waited too long for a lock. */
public final class SqlStates {

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private SqlStates() {}

    public static boolean isLockTimeout(RuntimeException failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && LOCK_NOT_AVAILABLE.equals(sql.getSQLState())) {
                return true;
            }
        }
        return false;
    }
}
