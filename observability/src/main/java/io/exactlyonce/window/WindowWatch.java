package io.exactlyonce.window;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures how long the deliveries of each listener take, and logs a warning before they take longer than the
 * visibility timeout. Latencies are kept in memory until the process ends, even if the listener stops.
 *
 * <p>A delivery is measured from the message's receive until SQS confirms that the message is deleted, or until the
 * delivery is abandoned. Deliveries that were returned to the queue are not measured.
 */
public final class WindowWatch implements DeliveryEvent.SelectiveObserver {

    private static final Logger log = LoggerFactory.getLogger(WindowWatch.class);

    /**
     * At least this many deliveries are needed for a 99th percentile. With fewer, it would be the longest delivery.
     */
    private static final int ENOUGH = 100;

    private final boolean isRenewed;
    private final List<WindowObserver> observers;
    private final NanoClock clock;
    private final ConcurrentMap<ListenerQueue, WatchedLatency> watched = new ConcurrentHashMap<>();

    /**
     * A listener's visibility timeout on one queue, compared with its latencies.
     *
     * @param timeout the visibility timeout as last read
     * @param latencies latencies of the last six to twelve hours, or longer if there were fewer than 2,000 deliveries
     * @param recent latencies of the last five minutes, and at least of the last hundred deliveries; empty if the last
     *     five minutes had no delivery
     * @param handlers how long recent handler calls took
     * @param advice the recommended visibility timeout
     */
    public record ListenerWindow(
            Subscription subscription,
            VisibilityWindow timeout,
            Latencies latencies,
            Latencies recent,
            Latencies handlers,
            WindowAdvice advice) {

        /** Returns the visibility timeout. */
        public Duration length() {
            return timeout.length();
        }

        /** Returns how much of the visibility timeout recent deliveries need ({@link Latencies#utilization}). */
        public double utilization() {
            return recent.utilization(length());
        }
    }

    /**
     * Creates a watch. Listeners are measured as soon as they have subscribed.
     *
     * @param isRenewed whether visibility timeouts are renewed while handlers run
     * @param observers receive each warning
     */
    public WindowWatch(boolean isRenewed, List<WindowObserver> observers, NanoClock clock) {
        this.isRenewed = isRenewed;
        this.observers = List.copyOf(observers);
        this.clock = clock;
    }

    @Override
    public void subscribed(Subscription subscription) {
        of(subscription).started(subscription);
    }

    @Override
    public void handled(DeliveryEvent.Handled event) {
        of(event.subscription()).handled(clock.nanoTime(), event.elapsed());
    }

    @Override
    public void delivered(DeliveryEvent.Delivered event) {
        WatchedLatency its = of(event.subscription());
        WindowWarning warning = its.delivered(clock.nanoTime(), event.elapsed());
        if (warning != null) {
            warn(its.subscription(), warning);
            Boundary.notifySafely(observers, observer -> observer.warned(its.subscription(), warning));
        }
    }

    private void warn(Subscription subscription, WindowWarning warning) {
        String now = "p95 of recent deliveries is %.1f s, %.0f %% of the visibility timeout of %d s"
                .formatted(
                        warning.p95().toNanos() * 1e-9,
                        warning.utilization() * 100,
                        warning.window().toSeconds());
        String consequence = isRenewed
                ? "renewal keeps such messages hidden, but a failed renewal has less time for retries"
                : "renewal is off, so a delivery that outlasts its lease is interrupted, and runs again in doubt";
        switch (warning.kind()) {
            case NEAR ->
                log.warn(
                        "{}: deliveries come near their visibility timeout: {}; {}. Raise the timeout, or find the cause of the latency",
                        subscription,
                        now,
                        consequence);
            case BREACHED ->
                log.warn(
                        "{}: deliveries outlast their visibility timeout: {}; {}. Raise the timeout",
                        subscription,
                        now,
                        consequence);
            case RECOVERED ->
                log.info("{}: deliveries are well within their visibility timeout again: {}", subscription, now);
        }
    }

    /** Returns latencies and advice for all listeners, sorted by listener and queue. */
    public List<ListenerWindow> windows() {
        return watched.values().stream()
                .map(this::window)
                .sorted(Comparator.comparing(each -> each.subscription().listenerQueue()))
                .toList();
    }

    /** Returns latencies and advice for one listener. Before its first delivery, the latencies are zero. */
    public ListenerWindow window(Subscription subscription) {
        return window(of(subscription));
    }

    /**
     * Returns the 99th percentile of a listener's latencies; empty if fewer than a hundred deliveries were measured.
     */
    public Optional<Duration> p99(Subscription subscription) {
        Latencies latencies = of(subscription).usual();
        return latencies.count() >= ENOUGH ? Optional.of(latencies.p99()) : Optional.empty();
    }

    private ListenerWindow window(WatchedLatency its) {
        Subscription subscription = its.subscription();
        long now = clock.nanoTime();
        Latencies usual = its.usual();
        VisibilityWindow timeout = subscription.settings().window();
        return new ListenerWindow(
                subscription,
                timeout,
                usual,
                its.recent(now),
                its.handlers(now),
                WindowAdvice.of(subscription.queue(), timeout, isRenewed, usual));
    }

    private WatchedLatency of(Subscription subscription) {
        return watched.computeIfAbsent(
                subscription.listenerQueue(), key -> new WatchedLatency(subscription, clock.nanoTime()));
    }
}
