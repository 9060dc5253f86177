package io.exactlyonce.claim.backend;

import io.exactlyonce.claim.ClaimStoreBusyException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Passes operators' calls to the store one after the other. Any number of callers therefore occupies only one
 * connection. A store has one instance for each kind of call.
 */
public final class Turns {

    /** The longest wait of an operator's call for its turn, in seconds. A claim may wait as long for a connection. */
    private static final long LONGEST_WAIT_SECONDS = 3;

    private final Semaphore turn = new Semaphore(1, true);

    /**
     * Makes a call when its turn comes.
     *
     * @throws ClaimStoreBusyException if the turn does not come within 3 s, or if the thread is interrupted while it
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
