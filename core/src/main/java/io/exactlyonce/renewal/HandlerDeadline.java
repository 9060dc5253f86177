package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Interrupts a handler that runs for longer than the listener's timeout. While the handler ignores the interrupt,
 * neither the message's visibility timeout nor the claim's lease is renewed. So the handler keeps its claim only until
 * the lease expires.
 *
 * <p>Thread-safe. No lock is held while the handler is interrupted.
 */
final class HandlerDeadline {

    private static final Logger log = LoggerFactory.getLogger(HandlerDeadline.class);

    private final MessageVisibility visibility;
    private final ClaimKey key;
    private final Duration timeout;
    private final long end;
    private final Runnable handler;
    private boolean isCancelled;
    private volatile boolean isExpired;

    /**
     * Starts the timeout.
     *
     * @param handler called at the timeout, to interrupt the handler; must not block
     */
    HandlerDeadline(MessageVisibility visibility, ClaimKey key, Duration timeout, Runnable handler) {
        this.visibility = visibility;
        this.key = key;
        this.timeout = timeout;
        this.end = visibility.renewer.now() + timeout.toNanos();
        this.handler = handler;
    }

    /** Returns whether the timeout is over, even if the handler has not been interrupted yet. */
    boolean isPast() {
        return end - visibility.renewer.now() <= 0;
    }

    /** Returns whether the handler was interrupted, or is being interrupted now. */
    boolean isExpired() {
        return isExpired;
    }

    /** Interrupts the handler if its timeout is over and it still runs. Does so only once. */
    void expire() {
        synchronized (this) {
            if (isCancelled || isExpired || !isPast()) {
                return;
            }
            isExpired = true;
        }
        log.warn(
                "The handler of {} runs longer than its timeout of {} ms: it is interrupted, and its "
                        + "message and claim are no longer renewed",
                visibility,
                timeout.toMillis());
        handler.run();
        visibility.renewer.events.accept(new RenewalEvent.TimedOut(visibility.subscription, key));
    }

    /**
     * Called when the handler has ended. Its thread must no longer be interrupted, because it may already do other
     * work.
     */
    synchronized void cancel() {
        isCancelled = true;
    }
}
