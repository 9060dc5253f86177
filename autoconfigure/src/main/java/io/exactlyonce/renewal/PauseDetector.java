package io.exactlyonce.renewal;

import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices ticks that come late: the JVM, or the machine below it, was paused. A suspension which the machine's monotonic
 * clock does not count goes unnoticed.
 */
final class PauseDetector {

    private static final Logger log = LoggerFactory.getLogger(PauseDetector.class);

    private static final Duration ALWAYS_LATE = Duration.ofSeconds(1);

    /** A tick that is late by this part of a window in flight has cost much of its headroom. */
    private static final int PART = 4;

    /** No window's part is shorter: for a tick that is less late than this, no window is asked. */
    private static final long SHORTEST_PART = VisibilityWindow.SHORTEST.toNanos() / PART;

    private final RenewalObserver observer;
    private long last;

    PauseDetector(RenewalObserver observer, long now) {
        this.observer = observer;
        this.last = now;
    }

    /** Ticks begin anew: for a while none were wanted. */
    synchronized void reset(long now) {
        last = now;
    }

    /** Returns the time since the last tick, or since ticks began. */
    synchronized Duration sinceLast(long now) {
        return Duration.ofNanos(now - last);
    }

    synchronized void tick(long now, Collection<RenewedWindow> windows) {
        long late = now - last - RenewalSupervisor.TICK.toNanos();
        last = now;
        if (late >= SHORTEST_PART && isPause(late, windows)) {
            log.warn(
                    "Renewals were paused for {} ms, with {} deliveries in flight; those whose windows have ended since "
                            + "are not renewed. Look for long garbage collections, a starved CPU or a suspended machine",
                    late / 1_000_000,
                    windows.size());
            observer.paused(Duration.ofNanos(late));
        }
    }

    private static boolean isPause(long late, Collection<RenewedWindow> windows) {
        return late >= ALWAYS_LATE.toNanos()
                || windows.stream()
                        .anyMatch(window ->
                                late >= window.subscription().window().length().toNanos() / PART);
    }
}
