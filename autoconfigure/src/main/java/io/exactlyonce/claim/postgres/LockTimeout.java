package io.exactlyonce.claim.postgres;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Tells failures of statements that waited for a lock for too long from others. */
final class LockTimeout {

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private LockTimeout() {}

    static boolean isBehind(RuntimeException failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && LOCK_NOT_AVAILABLE.equals(sql.getSQLState())) {
                return true;
            }
        }
        return false;
    }
}
