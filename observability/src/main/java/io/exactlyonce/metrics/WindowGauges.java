package io.exactlyonce.metrics;

import io.exactlyonce.queue.Subscription;
import io.exactlyonce.window.Latencies;
import io.exactlyonce.window.WindowAdvice;
import io.exactlyonce.window.WindowWatch;
import io.exactlyonce.window.WindowWatch.ListenerWindow;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Gauges that compare a listener's latencies with its visibility timeout. They also show the recommended timeout.
 *
 * <p>A metrics system reads the gauges one after the other. The latencies are computed at most once a second, so that
 * all gauges of one reading agree with each other.
 */
final class WindowGauges {

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final Meters meters;
    private final Subscription listener;
    private final WindowWatch watch;
    private @Nullable ListenerWindow known;
    private long knownAt;

    WindowGauges(Meters meters, Subscription listener, WindowWatch watch) {
        this.meters = meters;
        this.listener = listener;
        this.watch = watch;
    }

    void register() {
        quantiles("exactly.once.delivery.quantile", ListenerWindow::recent);
        quantiles("exactly.once.handler.quantile", ListenerWindow::handlers);
        seconds("exactly.once.window", ListenerWindow::length);
        seconds(
                "exactly.once.window.headroom",
                window -> window.length().minus(window.recent().p95()));
        seconds("exactly.once.window.recommended", window -> recommended(window, true), "rule", "renewed");
        seconds("exactly.once.window.recommended", window -> recommended(window, false), "rule", "not_renewed");
        meters.gauge("exactly.once.window.utilization", "ratio", () -> window().utilization());
    }

    /**
     * Registers quantiles as separate gauges. In Prometheus, a timer has either quantiles or buckets, and the timers
     * here have buckets.
     */
    private void quantiles(String name, Function<ListenerWindow, Latencies> latencies) {
        seconds(name, latencies.andThen(Latencies::p50), "quantile", "0.5");
        seconds(name, latencies.andThen(Latencies::p95), "quantile", "0.95");
        seconds(name, latencies.andThen(Latencies::p99), "quantile", "0.99");
    }

    private static Duration recommended(ListenerWindow window, boolean isRenewed) {
        Duration advised = WindowAdvice.of(
                        window.subscription().queue(), window.timeout(), isRenewed, window.latencies())
                .recommended();
        return advised == null ? window.length() : advised;
    }

    private void seconds(String name, Function<ListenerWindow, Duration> value, String... more) {
        meters.gauge(name, "seconds", () -> seconds(value.apply(window())), more);
    }

    private static double seconds(Duration time) {
        return time.toNanos() / (double) NANOS_PER_SECOND;
    }

    private synchronized ListenerWindow window() {
        long now = meters.nanoTime();
        ListenerWindow window = known;
        if (window == null || now - knownAt >= NANOS_PER_SECOND) {
            window = watch.window(listener);
            known = window;
            knownAt = now;
        }
        return window;
    }
}
