package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of the time that a listener gives to one call of its handler. A handler that still runs then is interrupted, and neither
 * its message nor its claim is renewed until the handler ends: one that ignores the interrupt keeps its claim until the lease ends.
 *
 * <p>Thread-safe; its monitor is never held while the handler is interrupted.
 */
final class HandlerDeadline {

    private static final Logger log = LoggerFactory.getLogger(HandlerDeadline.class);

    private final Window window;
    private final ClaimKey key;
    private final Duration timeout;
    private final long end;
    private final Runnable handler;
    private boolean isCancelled;
    private volatile boolean isExpired;

    /**
     * Called when the handler starts.
     *
     * @param handler interrupted at the deadline; must not block
     */
    HandlerDeadline(Window window, ClaimKey key, Duration timeout, Runnable handler) {
        this.window = window;
        this.key = key;
        this.timeout = timeout;
        this.end = window.renewer.now() + timeout.toNanos();
        this.handler = handler;
    }

    /** Returns whether the time is over, even before the handler is interrupted. */
    boolean isPast() {
        return end - window.renewer.now() <= 0;
    }

    /** Returns whether the handler was interrupted, or is being interrupted now. */
    boolean isExpired() {
        return isExpired;
    }

    /** Interrupts the handler, once, if its time is over. */
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
                window,
                timeout.toMillis());
        handler.run();
        window.renewer.events.accept(new RenewalEvent.TimedOut(window.subscription, key));
    }

    /** Called when the handler ended. It is not interrupted any more. */
    synchronized void cancel() {
        isCancelled = true;
    }
}
