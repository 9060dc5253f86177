package io.exactlyonce.window;

import io.exactlyonce.queue.Subscription;
import io.exactlyonce.window.WindowWarning.Kind;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Measures the latencies of one listener on one queue, and decides when to warn that they come near the visibility
 * timeout. Takes about 180 KB.
 *
 * <p>Thread-safe. Recording a latency takes a lock for a short time, and allocates nothing. Computing percentiles takes
 * the same lock for longer, so deliveries cause it at most once a second.
 */
final class WatchedLatency {

    /**
     * A warning is due if p95 exceeds this fraction of the visibility timeout. The published alert uses the same limit.
     */
    private static final double NEAR = 0.8;

    /** The warning is over if p95 is below this fraction of the visibility timeout. */
    private static final double RECOVERED = 0.7;

    private static final Duration RECENT = Duration.ofMinutes(5);
    private static final int FEWEST_RECENT = 100;
    private static final int RECENT_PARTS = 6;

    /**
     * The visibility timeout is recommended from the deliveries of the last six to twelve hours. If there were fewer
     * than 2,000 in that time, older ones are used, too.
     */
    private static final Duration USUAL = Duration.ofHours(6);

    private static final int FEWEST_USUAL = 2_000;
    private static final int USUAL_PARTS = 2;
    private static final long LONGEST_BETWEEN_CHECKS = TimeUnit.SECONDS.toNanos(15);
    private static final long SHORTEST_BETWEEN_CHECKS = TimeUnit.SECONDS.toNanos(1);

    private final SlidingLatencies usual;
    private final SlidingLatencies recent;
    private final SlidingLatencies handlers;
    private volatile Subscription subscription;
    private long lastDelivered;
    private long lastHandled;
    private long checkedAt;
    private Kind reported = Kind.RECOVERED;

    WatchedLatency(Subscription subscription, long nanos) {
        this.subscription = subscription;
        usual = new SlidingLatencies(USUAL_PARTS, USUAL, FEWEST_USUAL, nanos);
        recent = new SlidingLatencies(RECENT_PARTS, RECENT, FEWEST_RECENT, nanos);
        handlers = new SlidingLatencies(RECENT_PARTS, RECENT, FEWEST_RECENT, nanos);
        lastDelivered = nanos;
        lastHandled = nanos;
        checkedAt = nanos;
    }

    /**
     * Called when the listener starts again. Latencies from before are kept. From now on, they are compared with the
     * visibility timeout of the new subscription.
     */
    void started(Subscription latest) {
        subscription = latest;
    }

    Subscription subscription() {
        return subscription;
    }

    synchronized void handled(long nanos, Duration elapsed) {
        handlers.add(nanos, elapsed);
        lastHandled = nanos;
    }

    /** Records the latency of a finished delivery. Returns a warning if one is due; else {@code null}. */
    synchronized @Nullable WindowWarning delivered(long nanos, Duration elapsed) {
        usual.add(nanos, elapsed);
        recent.add(nanos, elapsed);
        lastDelivered = nanos;
        return check(nanos);
    }

    private @Nullable WindowWarning check(long nanos) {
        Duration visibilityTimeout = subscription.settings().window().length();
        long interval =
                Math.max(SHORTEST_BETWEEN_CHECKS, Math.min(LONGEST_BETWEEN_CHECKS, visibilityTimeout.toNanos() / 2));
        if (nanos - checkedAt < interval) {
            return null;
        }
        checkedAt = nanos;
        Latencies latencies = recent.latencies();
        Kind next = next(latencies, visibilityTimeout);
        if (next == reported) {
            return null;
        }
        reported = next;
        return new WindowWarning(next, latencies.p95(), visibilityTimeout);
    }

    /**
     * Returns the warning level for these latencies. The level falls only when p95 has recovered. So if p95 goes up and
     * down around a limit, operators get only one warning.
     */
    private Kind next(Latencies latencies, Duration visibilityTimeout) {
        double certain = latencies.utilization(visibilityTimeout);
        if (certain > 1) {
            return Kind.BREACHED;
        }
        if (certain > NEAR && reported == Kind.RECOVERED) {
            return Kind.NEAR;
        }
        return latencies.p95().toNanos() < RECOVERED * visibilityTimeout.toNanos() ? Kind.RECOVERED : reported;
    }

    synchronized Latencies usual() {
        return usual.latencies();
    }

    /** Returns the latencies of recent deliveries; {@link Latencies#NONE} if there was none for five minutes. */
    synchronized Latencies recent(long nanos) {
        return isRecent(nanos - lastDelivered) ? recent.latencies() : Latencies.NONE;
    }

    /** Returns how long recent handler calls took; {@link Latencies#NONE} if there was none for five minutes. */
    synchronized Latencies handlers(long nanos) {
        return isRecent(nanos - lastHandled) ? handlers.latencies() : Latencies.NONE;
    }

    private static boolean isRecent(long nanosAgo) {
        return nanosAgo < RECENT.toNanos();
    }
}
