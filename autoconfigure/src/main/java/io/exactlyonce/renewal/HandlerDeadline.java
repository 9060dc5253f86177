package io.exactlyonce.renewal;

import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The moment at which one run of a handler has taken as long as its listener's timeout. */
final class HandlerDeadline {

    private static final Logger log = LoggerFactory.getLogger(HandlerDeadline.class);

    private final Renewal renewal;
    private final Subscription subscription;
    private final Duration timeout;
    private final long end;
    private final HandlerStopper handler;

    /**
     * @param begunAt when the handler began
     * @param handler is stopped then
     */
    HandlerDeadline(
            Renewal renewal, Subscription subscription, Duration timeout, long begunAt, HandlerStopper handler) {
        this.renewal = renewal;
        this.subscription = subscription;
        this.timeout = timeout;
        this.end = begunAt + timeout.toNanos();
        this.handler = handler;
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
        handler.stop();
        observer.timedOut(subscription);
    }
}
