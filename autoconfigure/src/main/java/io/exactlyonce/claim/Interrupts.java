package io.exactlyonce.claim;

import java.nio.channels.ClosedByInterruptException;
import org.jspecify.annotations.Nullable;

/** Tells failures that an interrupt caused from those that only happened while the thread was interrupted. */
public final class Interrupts {

    private Interrupts() {}

    /** Pools and drivers keep them as causes. A socket's timeout is an {@code InterruptedIOException}, and is none. */
    public static boolean areBehind(Throwable failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException || cause instanceof ClosedByInterruptException) {
                return true;
            }
        }
        return false;
    }
}
