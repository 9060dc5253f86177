package io.exactlyonce.window;

import io.exactlyonce.queue.Subscription;
import io.exactlyonce.window.WindowWarning.Kind;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The latencies of one listener on one queue, and the rule by which latencies cause a warning. The rule is checked
 * when a delivery ends, so a listener without deliveries causes no warning. Each object takes about 180 KB.
 *
 * <p>Thread-safe. Counting a duration takes the lock for a short time, and allocates nothing. Percentiles are computed
 * under the same lock: by the rule, at most once a second, and by each scrape.
 */
final class WatchedLatency {

    /**
     * The fraction of the visibility timeout above which p95 counts as near the timeout. The published alert has the
     * same bound.
     */
    private static final double NEAR = 0.8;

    /** The fraction of the visibility timeout below which p95 has recovered. */
    private static final double RECOVERED = 0.7;

    private static final Duration RECENT = Duration.ofMinutes(5);
    private static final int FEWEST_RECENT = 100;
    private static final int RECENT_PARTS = 6;

    /**
     * The time span of the latencies from which a visibility timeout is recommended. With two histograms, the
     * latencies are those of the last six to twelve hours.
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
     * Replaces the subscription when the listener starts again. Latencies from before the start are kept, and are
     * compared with the visibility timeout of the new subscription.
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

    /** Records a finished delivery. Returns {@code null} if there is no new warning. */
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
     * Returns the kind that fits the latencies. After {@code NEAR} or {@code BREACHED}, no lower kind is returned
     * before p95 recovers. Each kind is therefore reported at most once before a recovery.
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

    /**
     * Returns the latencies of recent deliveries. Returns {@link Latencies#NONE} after five minutes without a
     * delivery.
     */
    synchronized Latencies recent(long nanos) {
        return isRecent(nanos - lastDelivered) ? recent.latencies() : Latencies.NONE;
    }

    /**
     * Returns how long recent handler calls took. Returns {@link Latencies#NONE} after five minutes without a handler
     * call.
     */
    synchronized Latencies handlers(long nanos) {
        return isRecent(nanos - lastHandled) ? handlers.latencies() : Latencies.NONE;
    }

    private static boolean isRecent(long nanosAgo) {
        return nanosAgo < RECENT.toNanos();
    }
}
