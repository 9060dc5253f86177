package io.exactlyonce.metrics;

import io.exactlyonce.visibility.VisibilityWindow;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.ValueAtPercentile;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.DoubleStream;

/** The visibility window of one listener on one queue, and the time that handlers and deliveries take against it. */
final class WindowMeters {

    private static final double P95 = 0.95;
    private static final double[] PERCENTILES = {0.5, P95, 0.99};

    /** Bounds of buckets, in windows: more of them where it is decided whether the window holds. */
    private static final double[] BUCKETS = {0.05, 0.1, 0.25, 0.5, 0.65, 0.8, 0.9, 1, 1.25, 1.5, 2, 3, 6, 12};

    private static final double NANOS_PER_SECOND = 1e9;

    private final Timer delivery;
    private final Timer handler;
    private final Counter exceeded;
    private volatile VisibilityWindow window;

    WindowMeters(Meters meters, VisibilityWindow begun) {
        window = begun;
        Duration[] bounds = bounds(begun);
        delivery = meters.timer(
                MeterNames.DELIVERY,
                "From a message's receive to its confirmed delete, or until it was abandoned: the time that counts against"
                        + " the window. Deliveries whose handler was not called, and those that failed and were returned,"
                        + " do not count",
                bounds,
                PERCENTILES);
        handler = meters.timer(MeterNames.HANDLER, "The handler's own time; a batch counts once", bounds, PERCENTILES);
        quantiles(meters, MeterNames.DELIVERY_QUANTILE, "deliveries", delivery);
        quantiles(meters, MeterNames.HANDLER_QUANTILE, "handlers", handler);
        exceeded = meters.counter(
                MeterNames.WINDOW_EXCEEDED,
                "Deliveries that took longer than their window: each would have been a duplicate without renewal");
        meters.gauge(
                MeterNames.WINDOW,
                "seconds",
                "The visibility window of received messages",
                () -> window.length().toSeconds());
        meters.gauge(
                MeterNames.WINDOW_UTILIZATION,
                "ratio",
                "95th percentile of deliveries of the last five minutes / window",
                () -> nanos(delivery, P95) / window.length().toNanos());
        meters.gauge(
                MeterNames.WINDOW_HEADROOM,
                "seconds",
                "Window - 95th percentile of deliveries of the last five minutes; negative where the window is overrun",
                () -> window.length().toSeconds() - nanos(delivery, P95) / NANOS_PER_SECOND);
    }

    private static Duration[] bounds(VisibilityWindow window) {
        return DoubleStream.of(BUCKETS)
                .mapToObj(windows ->
                        Duration.ofMillis(Math.round(windows * window.length().toMillis())))
                .toArray(Duration[]::new);
    }

    /** Prometheus knows timers with quantiles, or with buckets. */
    private static void quantiles(Meters meters, String name, String measured, Timer timer) {
        for (double quantile : PERCENTILES) {
            meters.gauge(
                    name,
                    "seconds",
                    "Quantiles of %s of the last five minutes, of this instance; 0 if there were none"
                            .formatted(measured),
                    () -> nanos(timer, quantile) / NANOS_PER_SECOND,
                    MeterNames.QUANTILE,
                    Double.toString(quantile));
        }
    }

    private static double nanos(Timer timer, double percentile) {
        return Arrays.stream(timer.takeSnapshot().percentileValues())
                .filter(value -> value.percentile() == percentile)
                .mapToDouble(ValueAtPercentile::value)
                .findFirst()
                .orElse(0);
    }

    /** A listener that was restarted may find another window, and so may one that goes on. */
    void found(VisibilityWindow another) {
        window = another;
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
