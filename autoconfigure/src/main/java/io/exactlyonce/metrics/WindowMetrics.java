package io.exactlyonce.metrics;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.WindowAdvice;
import io.exactlyonce.window.watch.ListenerWindow;
import io.exactlyonce.window.watch.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Gauges of what is foreseen and advised of windows, from a listener's first start on. */
public final class WindowMetrics implements DeliveryObserver {

    private static final double MILLIS_PER_SECOND = 1_000;

    private final MeterRegistry registry;
    private final WindowWatch watch;
    private final Set<Tags> registered = ConcurrentHashMap.newKeySet();

    /**
     * @param registry where the meters are registered
     * @param watch what is known of windows; it learns of a subscription before or after this does
     */
    public WindowMetrics(MeterRegistry registry, WindowWatch watch) {
        this.registry = registry;
        this.watch = watch;
    }

    @Override
    public void subscribed(Subscription subscription) {
        Tags tags = Tags.of(MeterNames.LISTENER, subscription.listener(), MeterNames.QUEUE, subscription.queue());
        if (registered.add(tags)) {
            register(new Meters(registry, tags), subscription);
        }
    }

    private void register(Meters meters, Subscription subscription) {
        gauge(
                meters,
                MeterNames.WINDOW_BREACH,
                "seconds",
                "Time until the 95th percentile reaches the window if it goes on to grow as it does; +Inf if it does not grow",
                subscription,
                window -> window.outlook()
                        .timeToBreach()
                        .map(WindowMetrics::seconds)
                        .orElse(Double.POSITIVE_INFINITY));
        gauge(
                meters,
                MeterNames.WINDOW_STRAYS,
                "ratio",
                "Part of the last hour's deliveries that took longer than the window",
                subscription,
                window -> window.outlook().shareBeyond());
        recommended(meters, subscription, true, "renewed");
        recommended(meters, subscription, false, "not_renewed");
    }

    private void recommended(Meters meters, Subscription subscription, boolean isRenewed, String rule) {
        gauge(
                meters,
                MeterNames.WINDOW_RECOMMENDED,
                "seconds",
                "The window that the queue should have, by rule: renewed (2 x p50, with renewal) and not_renewed ((p99 +"
                        + " 70 ms) x 1.75, without); the window that it has while nothing is measured",
                subscription,
                window -> {
                    WindowAdvice advice = WindowAdvice.of(
                            subscription.queue(),
                            window.subscription().window(),
                            isRenewed,
                            window.outlook().latencies());
                    return seconds(Objects.requireNonNullElse(advice.recommended(), advice.current()));
                },
                MeterNames.RULE,
                rule);
    }

    private void gauge(
            Meters meters,
            String name,
            @Nullable String unit,
            String description,
            Subscription subscription,
            ToDoubleFunction<ListenerWindow> value,
            String... more) {
        meters.gauge(
                name,
                unit,
                description,
                () -> watch.window(subscription.listener(), subscription.queue())
                        .map(value::applyAsDouble)
                        .orElse(0.0),
                more);
    }

    private static double seconds(Duration time) {
        return time.toMillis() / MILLIS_PER_SECOND;
    }
}
