package io.exactlyonce.metrics;

import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.WindowAdvice;
import io.exactlyonce.window.foresight.Outlook;
import io.exactlyonce.window.watch.WindowWatch;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.ValueAtPercentile;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.DoubleStream;

/**
 * The visibility window of one listener on one queue, the time that handlers and deliveries take against it, and what is foreseen
 * and advised of it.
 */
final class WindowMeters {

    private static final double[] PERCENTILES = {0.5, 0.95, 0.99};

    /** Bounds of buckets, in windows: more of them where it is decided whether the window holds. */
    private static final double[] BUCKETS = {0.05, 0.1, 0.25, 0.5, 0.65, 0.8, 0.9, 1, 1.25, 1.5, 2, 3, 6, 12};

    private static final double NANOS_PER_SECOND = 1e9;

    private final Meters meters;
    private final WindowWatch watch;
    private final Timer delivery;
    private final Timer handler;
    private final Counter exceeded;
    private volatile Subscription subscription;

    /** @param watch learns of a subscription before or after this does */
    WindowMeters(Meters meters, Subscription begun, WindowWatch watch) {
        this.meters = meters;
        this.watch = watch;
        subscription = begun;
        Duration[] bounds = bounds(begun.window());
        delivery = meters.timer(
                "exactly.once.delivery",
                "From a message's receive to its confirmed delete, or until it was abandoned: the time that counts against"
                        + " the window. Deliveries whose handler was not called, and those that failed and were returned,"
                        + " do not count",
                bounds,
                PERCENTILES);
        handler = meters.timer(
                "exactly.once.handler",
                "The handler's own time, without its reconciler's; a batch counts once",
                bounds,
                PERCENTILES);
        quantiles("exactly.once.delivery.quantile", "deliveries", delivery);
        quantiles("exactly.once.handler.quantile", "handlers", handler);
        exceeded = meters.counter(
                "exactly.once.window.exceeded",
                "Deliveries that took longer than their window: each would have been a duplicate without renewal");
        registerWindow();
        recommended(true, "renewed");
        recommended(false, "not_renewed");
    }

    private static Duration[] bounds(VisibilityWindow window) {
        return DoubleStream.of(BUCKETS)
                .mapToObj(windows ->
                        Duration.ofMillis(Math.round(windows * window.length().toMillis())))
                .toArray(Duration[]::new);
    }

    /** Prometheus knows timers with quantiles, or with buckets. */
    private void quantiles(String name, String measured, Timer timer) {
        for (double quantile : PERCENTILES) {
            meters.gauge(
                    name,
                    "seconds",
                    "Quantiles of %s of the last five minutes, of this instance; 0 if there were none"
                            .formatted(measured),
                    () -> nanos(timer, quantile) / NANOS_PER_SECOND,
                    "quantile",
                    Double.toString(quantile));
        }
    }

    private static double nanos(Timer timer, double percentile) {
        for (ValueAtPercentile value : timer.takeSnapshot().percentileValues()) {
            if (value.percentile() == percentile) {
                return value.value();
            }
        }
        return 0;
    }

    private void registerWindow() {
        meters.gauge(
                "exactly.once.window",
                "seconds",
                "The visibility window of received messages",
                () -> subscription.window().length().toSeconds());
        meters.gauge(
                "exactly.once.window.utilization",
                "ratio",
                "95th percentile of deliveries of the last five minutes, or of the last 20 where those are fewer / window; 0 if"
                        + " there were none for five minutes",
                () -> recentP95() / seconds(subscription.window().length()));
        meters.gauge(
                "exactly.once.window.headroom",
                "seconds",
                "Window - 95th percentile of deliveries, as utilization has it; negative where the window is overrun",
                () -> seconds(subscription.window().length()) - recentP95());
        meters.gauge(
                "exactly.once.window.time.to.breach",
                "seconds",
                "Time until the 95th percentile reaches the window if it goes on to grow as it does; +Inf if it does not grow",
                () -> outlook()
                        .flatMap(Outlook::timeToBreach)
                        .map(WindowMeters::seconds)
                        .orElse(Double.POSITIVE_INFINITY));
        meters.gauge(
                "exactly.once.window.strays",
                "ratio",
                "Part of the last hour's deliveries that took longer than the window",
                () -> outlook().map(Outlook::shareBeyond).orElse(0.0));
    }

    private void recommended(boolean isRenewed, String rule) {
        meters.gauge(
                "exactly.once.window.recommended",
                "seconds",
                "The window that the queue should have, by rule: renewed (2 x p50, with renewal) and not_renewed ((p99 +"
                        + " 70 ms) x 1.75, without); the window that it has while nothing is measured",
                () -> {
                    VisibilityWindow window = subscription.window();
                    return seconds(outlook()
                            .map(known -> WindowAdvice.of(subscription.queue(), window, isRenewed, known.latencies())
                                    .recommended())
                            .orElse(window.length()));
                },
                "rule",
                rule);
    }

    private Optional<Outlook> outlook() {
        return watch.window(subscription.listener(), subscription.queue()).map(window -> window.outlook());
    }

    private double recentP95() {
        return outlook().map(known -> seconds(known.recentP95())).orElse(0.0);
    }

    private static double seconds(Duration time) {
        return time.toNanos() / NANOS_PER_SECOND;
    }

    /** A listener that was restarted may find another window, and so may one that goes on. */
    void found(Subscription revised) {
        subscription = revised;
    }

    void handled(Duration elapsed) {
        handler.record(elapsed);
    }

    /** @param received the window that the message was received by */
    void delivered(Duration elapsed, VisibilityWindow received) {
        delivery.record(elapsed);
        if (elapsed.compareTo(received.length()) > 0) {
            exceeded.increment();
        }
    }
}
