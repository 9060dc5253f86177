package io.exactlyonce.renewal;

import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listener's timeout, of one run of its handler. */
final class HandlerDeadline {

    private static final Logger log = LoggerFactory.getLogger(HandlerDeadline.class);

    private final Renewal renewal;
    private final Subscription subscription;
    private final Duration timeout;
    private final long end;
    private final Runnable onTimeout;

    /**
     * @param begun when the handler began
     * @param onTimeout tells the handler to stop; must not block
     */
    HandlerDeadline(Renewal renewal, Subscription subscription, Duration timeout, long begun, Runnable onTimeout) {
        this.renewal = renewal;
        this.subscription = subscription;
        this.timeout = timeout;
        this.end = begun + timeout.toNanos();
        this.onTimeout = onTimeout;
    }

    boolean isOver(long now) {
        return end - now <= 0;
    }

    /** Stops handler and renewals, unless the handler has just ended by itself. */
    void enforce(RenewalObserver observer) {
        if (!renewal.timeOut(this)) {
            return;
        }
        log.warn(
                "A handler of {} runs longer than its timeout of {} ms: it is interrupted, and its message and claim are "
                        + "renewed no more",
                subscription,
                timeout.toMillis());
        onTimeout.run();
        observer.timedOut(subscription);
    }
}
