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
 * Keeps a forecaster for each listener and queue, from the first start of the listener to the end of the process, and logs its
 * warnings. Nothing of it is stored: a new process learns anew.
 *
 * <p>What counts is the time from a message's receive to its confirmed delete, or until it was abandoned, since that is
 * what the window must hold. Deliveries that were returned because their handler failed are left out.
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
     * What is known of one listener's window on one queue.
     *
     * @param subscription with the window as it was last read
     * @param forecast latencies, time to breach, overruns
     * @param handlers the handlers' own times, as recent as the forecast's deliveries
     * @param advice the window that the queue should have
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
     * @param isRenewed whether windows are renewed while handlers run
     * @param observers learn of each warning
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
        String now = "p95 of recent deliveries is %.1f s, %.0f %% of the window of %d s; %.1f in 1,000 outlast it"
                .formatted(
                        warning.p95().toNanos() * 1e-9,
                        warning.utilization() * 100,
                        warning.window().toSeconds(),
                        warning.shareBeyond() * 1_000);
        Optional<String> in = warning.timeToBreach()
                .filter(time -> !time.isZero())
                .map(time -> " in %d min at this rate".formatted(Math.max(1, time.toMinutes())));
        String consequence = isRenewed
                ? "renewal carries such deliveries, with less time to repeat one that fails"
                : "nothing renews it, so a delivery that outlasts its lease is interrupted, and runs again in doubt";
        switch (warning.kind()) {
            case BREACH_AHEAD ->
                log.warn(
                        "{}: deliveries will outlast their window{}: {}; {}. Raise the window, or look for what grows slower",
                        subscription,
                        in.orElse(" more and more often"),
                        now,
                        consequence);
            case NEAR ->
                log.warn(
                        "{}: deliveries come near their window{}: {}; {}. Raise the window, or look for what grows slower",
                        subscription,
                        in.map(", and will outlast it"::concat).orElse(""),
                        now,
                        consequence);
            case BREACHED ->
                log.warn(
                        "{}: deliveries outlast their window: {}; {}. Raise the window",
                        subscription,
                        now,
                        consequence);
            case RECOVERED -> log.warn("{}: deliveries are well within their window again: {}", subscription, now);
        }
    }

    /** Returns what is known of each listener's window, by listener and queue. */
    public List<ListenerWindow> windows() {
        return watched.values().stream()
                .map(this::window)
                .sorted(Comparator.comparing(
                                (ListenerWindow each) -> each.subscription().listener())
                        .thenComparing(each -> each.subscription().queue()))
                .toList();
    }

    /** Returns what is known of a listener's window: at its start, nothing. */
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
