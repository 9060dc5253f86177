package io.exactlyonce.window;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a forecaster for each listener and queue, from the first start of the listener to the end of the process, and
 * logs its warnings. Nothing is stored: a new process starts without history.
 *
 * <p>Measures the time from a message's receive to its confirmed delete, or until it was abandoned, because the
 * visibility timeout must cover it. Deliveries that were returned because their handler failed are left out.
 */
public final class WindowWatch implements DeliveryObserver {

    private static final Logger log = LoggerFactory.getLogger(WindowWatch.class);

    /** Deliveries from which on a 99th percentile is more than the longest of them. */
    private static final int ENOUGH = 100;

    private final boolean isRenewed;
    private final List<WindowObserver> observers;
    private final NanoClock clock;
    private final ConcurrentMap<Key, Watched> watched = new ConcurrentHashMap<>();

    /**
     * The state of one listener's visibility timeout on one queue.
     *
     * @param subscription with the visibility timeout as last read
     * @param forecast latencies, time to breach, overruns
     * @param handlers the handlers' own times, as recent as the forecast's deliveries
     * @param advice the recommended visibility timeout
     */
    public record ListenerWindow(
            Subscription subscription, LatencyForecast forecast, Latencies handlers, WindowAdvice advice) {}

    private record Key(String listener, String queue) {}

    private static final class Watched {
        final LatencyForecaster forecaster;
        private final RecentLatencies handlers = new RecentLatencies();
        private final long begun;
        private double lastHandled;
        volatile Subscription subscription;

        Watched(Subscription subscription, long nanos) {
            this.subscription = subscription;
            begun = nanos;
            forecaster = new LatencyForecaster(subscription.window().length(), nanos);
        }

        void revise(Subscription revised) {
            subscription = revised;
            forecaster.windowChanged(revised.window().length());
        }

        synchronized void handled(long nanos, double seconds) {
            lastHandled = Math.max(lastHandled, seconds(nanos - begun));
            handlers.add(lastHandled, seconds);
        }

        synchronized Latencies handlers(long nanos) {
            return seconds(nanos - begun) - lastHandled < RecentLatencies.SECONDS
                    ? Latencies.of(handlers.all())
                    : Latencies.NONE;
        }
    }

    /**
     * Watches nothing until a listener subscribes.
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
        of(subscription).revise(subscription);
    }

    @Override
    public void on(DeliveryEvent event) {
        if (event instanceof DeliveryEvent.Handled handled) {
            of(handled.subscription())
                    .handled(clock.nanoTime(), seconds(handled.elapsed().toNanos()));
        } else if (event instanceof DeliveryEvent.Delivered delivered) {
            Watched its = of(delivered.subscription());
            WindowWarning warning =
                    its.forecaster.record(clock.nanoTime(), delivered.elapsed().toNanos() * 1e-9);
            if (warning != null) {
                warn(its.subscription, warning);
                Boundary.notifySafely(observers, observer -> observer.warned(its.subscription, warning));
            }
        }
    }

    private static double seconds(long nanos) {
        return nanos * 1e-9;
    }

    private void warn(Subscription subscription, WindowWarning warning) {
        String now =
                "p95 of recent deliveries is %.1f s, %.0f %% of the visibility timeout of %d s; %.1f in 1,000 outlast it"
                        .formatted(
                                warning.p95().toNanos() * 1e-9,
                                warning.utilization() * 100,
                                warning.window().toSeconds(),
                                warning.shareBeyond() * 1_000);
        Optional<String> in = warning.timeToBreach()
                .filter(time -> !time.isZero())
                .map(time -> " in %d min at this rate".formatted(Math.max(1, time.toMinutes())));
        String consequence = isRenewed
                ? "renewal keeps such messages hidden, but a failed renewal has less time for retries"
                : "renewal is off, so a delivery that outlasts its lease is interrupted, and runs again in doubt";
        switch (warning.kind()) {
            case BREACH_AHEAD ->
                log.warn(
                        "{}: deliveries will outlast their visibility timeout{}: {}; {}. Raise the timeout, or find the cause of the latency",
                        subscription,
                        in.orElse(" more and more often"),
                        now,
                        consequence);
            case NEAR ->
                log.warn(
                        "{}: deliveries come near their visibility timeout{}: {}; {}. Raise the timeout, or find the cause of the latency",
                        subscription,
                        in.map(", and will outlast it"::concat).orElse(""),
                        now,
                        consequence);
            case BREACHED ->
                log.warn(
                        "{}: deliveries outlast their visibility timeout: {}; {}. Raise the timeout",
                        subscription,
                        now,
                        consequence);
            case RECOVERED ->
                log.warn("{}: deliveries are well within their visibility timeout again: {}", subscription, now);
        }
    }

    /** Returns the state of each listener's visibility timeout, by listener and queue. */
    public List<ListenerWindow> windows() {
        return watched.values().stream()
                .map(this::window)
                .sorted(Comparator.comparing(
                                (ListenerWindow each) -> each.subscription().listener())
                        .thenComparing(each -> each.subscription().queue()))
                .toList();
    }

    /** Returns the state of a listener's visibility timeout, empty at its start. */
    public ListenerWindow window(Subscription subscription) {
        return window(of(subscription));
    }

    /** Returns the 99th percentile of a listener's deliveries, from receive to confirmed delete; empty if too few were measured. */
    public Optional<Duration> p99(Subscription subscription) {
        Latencies latencies = window(subscription).forecast().latencies();
        return latencies.count() >= ENOUGH ? Optional.of(latencies.p99()) : Optional.empty();
    }

    private ListenerWindow window(Watched its) {
        Subscription subscription = its.subscription;
        long now = clock.nanoTime();
        LatencyForecast forecast = its.forecaster.forecast(now);
        return new ListenerWindow(
                subscription,
                forecast,
                its.handlers(now),
                WindowAdvice.of(subscription.queue(), subscription.window(), isRenewed, forecast.latencies()));
    }

    private Watched of(Subscription subscription) {
        return watched.computeIfAbsent(
                new Key(subscription.listener(), subscription.queue()),
                key -> new Watched(subscription, clock.nanoTime()));
    }
}
