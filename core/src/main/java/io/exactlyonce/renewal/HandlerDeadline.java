package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The deadline of one call of a handler, by its listener's timeout. A handler that still runs at the deadline is
 * interrupted. Neither its message nor its claim is renewed until the handler ends, so a handler that ignores the
 * interrupt keeps its claim until the lease expires.
 *
 * <p>Thread-safe; its monitor is never held while the handler is interrupted.
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
     * @param handler interrupted at the deadline; must not block
     */
    HandlerDeadline(MessageVisibility visibility, ClaimKey key, Duration timeout, Runnable handler) {
        this.visibility = visibility;
        this.key = key;
        this.timeout = timeout;
        this.end = visibility.renewer.now() + timeout.toNanos();
        this.handler = handler;
    }

    /** Returns whether the deadline has passed, even before the handler is interrupted. */
    boolean isPast() {
        return end - visibility.renewer.now() <= 0;
    }

    /** Returns whether the handler was interrupted, or is being interrupted now. */
    boolean isExpired() {
        return isExpired;
    }

    /** Interrupts the handler, once, if the deadline has passed. */
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

    /** Called when the handler ended, so that it is no longer interrupted. */
    synchronized void cancel() {
        isCancelled = true;
    }
}
