package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The deadline of one call of a handler, set by the listener's timeout. A handler that still runs at the deadline is
 * interrupted. From the interrupt until the handler ends, neither the message's visibility timeout nor the claim's
 * lease is renewed. So a handler that ignores the interrupt keeps its claim only until the lease expires.
 *
 * <p>Thread-safe. The handler is interrupted outside of this object's monitor.
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
     * Called when the handler starts.
     *
     * @param handler interrupts the handler; must not block
     */
    HandlerDeadline(MessageVisibility visibility, ClaimKey key, Duration timeout, Runnable handler) {
        this.visibility = visibility;
        this.key = key;
        this.timeout = timeout;
        this.end = visibility.renewer.now() + timeout.toNanos();
        this.handler = handler;
    }

    /** Returns whether the deadline has passed, even if the handler is not interrupted yet. */
    boolean isPast() {
        return end - visibility.renewer.now() <= 0;
    }

    /** Returns whether the handler was interrupted, or is being interrupted now. */
    boolean isExpired() {
        return isExpired;
    }

    /** Interrupts the handler if the deadline has passed and the handler has not ended. Later calls do nothing. */
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

    /** Called when the handler has ended, so that no later interrupt reaches its thread. */
    synchronized void cancel() {
        isCancelled = true;
    }
}
