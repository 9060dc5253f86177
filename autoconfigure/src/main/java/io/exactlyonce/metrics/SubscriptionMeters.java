package io.exactlyonce.metrics;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.renewal.RenewalObserver;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.StaticWindowRule;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.ValueAtPercentile;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** The meters of one listener on one queue, all there from the start, so that alerts on rates see zeros first. */
final class SubscriptionMeters {

    /** Percentiles cover this much of the past: the time over which the advice on windows is to be judged. */
    private static final Duration MEMORY = Duration.ofMinutes(5);

    private static final double P95 = 0.95;

    private final Timer delivery;
    private final Timer handler;
    private final Counter handlerTimeouts;
    private final Map<String, Counter> claims = new HashMap<>();
    private final Map<String, Counter> renewals = new HashMap<>();
    private final Counter receivesRunOut;
    private volatile VisibilityWindow window;
    private volatile int waiting;
    private final Map<String, AtomicBoolean> paused = new ConcurrentHashMap<>();
    private final MeterRegistry registry;
    private final Tags tags;

    SubscriptionMeters(MeterRegistry registry, Subscription subscription) {
        this.registry = registry;
        this.tags = Tags.of(MeterNames.LISTENER, subscription.listener(), MeterNames.QUEUE, subscription.queue());
        window = subscription.window();
        delivery = timer(
                registry,
                MeterNames.DELIVERY,
                tags,
                "From a message's receive to its confirmed delete, or until it was abandoned");
        handler = timer(registry, MeterNames.HANDLER, tags, "The handler's own time");
        handlerTimeouts = counter(
                registry,
                MeterNames.HANDLER_TIMEOUTS,
                tags,
                "Handlers that ran into their listener's timeout, and were interrupted");
        receivesRunOut = counter(
                registry,
                MeterNames.RECEIVES_RUN_OUT,
                tags,
                "Deliveries that wait although they have at most one receive left before the dead-letter queue");
        registerGauges(registry, tags);
        Gauge.builder(MeterNames.WAITING, this, meters -> meters.waiting)
                .description("Deliveries that wait, invisible, for the holder of their key or for the claim store")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        for (String outcome : MeterNames.OUTCOMES) {
            Tags both = tags.and(MeterNames.OUTCOME, outcome);
            claims.put(outcome, counter(registry, MeterNames.CLAIMS, both, "Claims on keys, by what they met"));
        }
        for (RenewalObserver.Target target : RenewalObserver.Target.values()) {
            for (RenewalObserver.Result result : RenewalObserver.Result.values()) {
                Tags both = tags.and(MeterNames.TARGET, tag(target), MeterNames.RESULT, tag(result));
                renewals.put(
                        tag(target) + tag(result),
                        counter(registry, MeterNames.RENEWALS, both, "Renewals of visibility windows and of leases"));
            }
        }
    }

    private void registerGauges(MeterRegistry registry, Tags tags) {
        Gauge.builder(MeterNames.WINDOW, this, meters -> meters.window.length().toSeconds())
                .description("The visibility window of received messages")
                .baseUnit("seconds")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        Gauge.builder(MeterNames.WINDOW_UTILIZATION, this, SubscriptionMeters::utilization)
                .description("95th percentile of deliveries, as a part of the visibility window")
                .baseUnit("ratio")
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    /** The way is known when the listener subscribes to it. */
    private AtomicBoolean registerPaused(String way) {
        AtomicBoolean isPaused = new AtomicBoolean();
        Gauge.builder(MeterNames.LISTENER_PAUSED, isPaused, now -> now.get() ? 1 : 0)
                .description("Whether polling is paused since claims get no answer on this way")
                .tags(tags.and(MeterNames.WAY, way))
                .strongReference(true)
                .register(registry);
        return isPaused;
    }

    private static Counter counter(MeterRegistry registry, String name, Tags tags, String description) {
        return Counter.builder(name).description(description).tags(tags).register(registry);
    }

    private static Timer timer(MeterRegistry registry, String name, Tags tags, String description) {
        return Timer.builder(name)
                .description(description)
                .publishPercentiles(0.5, P95, 0.99)
                .distributionStatisticExpiry(MEMORY)
                .tags(tags)
                .register(registry);
    }

    /** A listener that was restarted may find another window. */
    void subscribed(Subscription subscription) {
        window = subscription.window();
    }

    void claimed(ClaimOutcome outcome) {
        increment(claims, MeterNames.outcome(outcome));
    }

    void renewed(RenewalObserver.Target target, RenewalObserver.Result result) {
        increment(renewals, tag(target) + tag(result));
    }

    void waiting(int deliveries) {
        waiting = deliveries;
    }

    void receivesRunOut() {
        receivesRunOut.increment();
    }

    void paused(String way, boolean isPaused) {
        paused.computeIfAbsent(way, this::registerPaused).set(isPaused);
    }

    void handled(Duration elapsed) {
        handler.record(elapsed);
    }

    void timedOut() {
        handlerTimeouts.increment();
    }

    void delivered(Duration elapsed) {
        delivery.record(elapsed);
    }

    private double utilization() {
        double nanos = Arrays.stream(delivery.takeSnapshot().percentileValues())
                .filter(value -> value.percentile() == P95)
                .mapToDouble(ValueAtPercentile::value)
                .findFirst()
                .orElse(0);
        return StaticWindowRule.utilization(Duration.ofNanos((long) nanos), window);
    }

    private static void increment(Map<String, Counter> counters, String name) {
        Counter counter = counters.get(name);
        if (counter != null) {
            counter.increment();
        }
    }

    private static String tag(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
