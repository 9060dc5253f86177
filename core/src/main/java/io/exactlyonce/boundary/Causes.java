package io.exactlyonce.boundary;

import java.nio.channels.ClosedByInterruptException;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The causes of a failure. */
public final class Causes {

    /** Limits the number of causes, because a chain of causes may form a circle. */
    private static final int MOST = 20;

    private Causes() {}

    /** Returns a failure and its causes, the failure first. */
    public static Stream<Throwable> of(@Nullable Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MOST);
    }

    /** Returns the last cause of a failure; the failure itself if it has no cause. */
    public static Throwable root(Throwable failure) {
        return of(failure).reduce(failure, (outer, inner) -> inner);
    }

    /** Removes the exceptions that futures wrap around a failure. */
    public static Throwable unwrap(Throwable failure) {
        return of(failure)
                .dropWhile(CompletionException.class::isInstance)
                .findFirst()
                .orElse(failure);
    }

    /** Returns whether a thread threw this failure because it was interrupted. */
    public static boolean isInterrupt(Throwable failure) {
        return failure instanceof InterruptedException || failure instanceof ClosedByInterruptException;
    }
}
