package io.exactlyonce.claim.backend;

import io.exactlyonce.claim.ClaimStoreBusyException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Runs operators' calls to the store one after the other, so that they need only one connection. A store has one
 * instance for lookups and one for decisions.
 */
public final class Turns {

    /** Limit of the wait for a turn, in seconds. */
    private static final long LONGEST_WAIT_SECONDS = 3;

    private final Semaphore turn = new Semaphore(1, true);

    /**
     * Waits until no other call is running, and then makes the call.
     *
     * @throws ClaimStoreBusyException if other calls take longer than 3 s, or if the thread is interrupted while it
     *     waits. The call is not made then
     */
    public <T> T alone(Supplier<T> call) {
        try {
            if (!turn.tryAcquire(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS)) {
                throw new ClaimStoreBusyException(
                        "Other lookups or decisions of operators took %d s".formatted(LONGEST_WAIT_SECONDS));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ClaimStoreBusyException("Interrupted before the claim store was called");
        }
        try {
            return call.get();
        } finally {
            turn.release();
        }
    }
}
