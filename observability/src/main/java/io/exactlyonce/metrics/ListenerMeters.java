package io.exactlyonce.metrics;

import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.Subscription.Levels;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.renewal.RenewalEvent.Target;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.TimeWindowMax;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one listener on one queue.
 *
 * <p>Counters are registered with value zero as soon as the listener starts, because an alert on a counter's rate needs
 * the value before the first event.
 */
final class ListenerMeters extends Meters {

    private static final List<String> OUTCOMES =
            List.of("acquired", "already_completed", "mismatch", "held_elsewhere", "parked");

    /** Values of the tag {@code receive}: how often a message has been received. */
    private static final List<String> RECEIVES = List.of("1", "2", "3", "4", "5+");

    /** Limits of the histogram's buckets, as fractions of the visibility timeout (1 is the whole timeout). */
    private static final double[] BUCKETS = {0.05, 0.1, 0.25, 0.5, 0.65, 0.8, 0.9, 1, 1.25, 1.5, 2, 3, 6, 12};

    /** Limits of the buckets for the age of a message, from one second to four days. */
    private static final Duration[] AGES = LongStream.of(1, 10, 60, 300, 900, 3_600, 21_600, 86_400, 345_600)
            .mapToObj(Duration::ofSeconds)
            .toArray(Duration[]::new);

    private static final int STEPS = 5;

    final Timer handler;

    final Counter timeouts = counter("exactly.once.handler.timeouts");
    final Counter acknowledgements = counter("exactly.once.acknowledgements");
    final Counter completionsLost = counter("exactly.once.completions.lost");
    final Counter finalReceives = counter("exactly.once.final.receives");

    private final Timer delivery;
    private final Timer age = timer("exactly.once.message.age", AGES);
    private final Counter abandoned = counter("exactly.once.handlers.abandoned");
    private final Counter completions = counter("exactly.once.completions");
    private final Counter takeovers = counter("exactly.once.takeovers");
    private final Counter exceeded = counter("exactly.once.window.exceeded");
    private final Map<String, Counter> claims =
            counters("exactly.once.claims", "outcome", OUTCOMES, outcome -> outcome);
    private final Map<String, Counter> receives =
            counters("exactly.once.receives", "receive", RECEIVES, count -> count);
    private final Map<MissingKeyPolicy, Counter> keysMissing =
            counters("exactly.once.keys.missing", "policy", List.of(MissingKeyPolicy.values()), ListenerMeters::tag);
    private final Map<Target, Map<Result, Counter>> renewals = new EnumMap<>(Target.class);
    private final MultiGauge receivesLeft = gauges("exactly.once.receives.left", null);
    private final TimeWindowMax mostReceives =
            new TimeWindowMax(Clock.SYSTEM, MEMORY.dividedBy(STEPS).toMillis(), STEPS);

    /**
     * Counts of deliveries that are in flight, waiting or being recorded. Each start of the listener adds new counts,
     * but deliveries from before a restart may still be running, and use the earlier counts. So the gauges show the sum
     * of all counts. Counts that no delivery uses any more are garbage-collected.
     */
    private final Set<Levels> levels = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private volatile Subscription current;

    ListenerMeters(MeterRegistry registry, Subscription subscription, WindowWatch watch) {
        super(registry, "listener", subscription.listener(), "queue", subscription.queue());
        current = subscription;
        levels.add(subscription.levels());
        Duration[] windows = DoubleStream.of(BUCKETS)
                .mapToObj(part -> Duration.ofMillis(Math.round(
                        part * subscription.settings().window().length().toMillis())))
                .toArray(Duration[]::new);
        delivery = timer("exactly.once.delivery", windows);
        handler = timer("exactly.once.handler", windows);
        List<Result> results = List.of(Result.values());
        for (Target target : Target.values()) {
            renewals.put(
                    target,
                    counters("exactly.once.renewals", "result", results, ListenerMeters::tag, "target", tag(target)));
        }
        gauge("exactly.once.in.flight", null, () -> sum(Levels::inFlight));
        gauge("exactly.once.waiting", null, () -> sum(Levels::waiting));
        gauge("exactly.once.completions.pending", null, () -> sum(Levels::recording));
        gauge(
                "exactly.once.listener.paused",
                null,
                () -> isPaused() ? 1 : 0,
                "claim.path",
                subscription.gate().claimPath());
        new WindowGauges(this, subscription, watch).register();
    }

    private boolean isPaused() {
        return current.gate().isPaused() && !current.isStopping();
    }

    private static String tag(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private int sum(Function<Levels, AtomicInteger> level) {
        synchronized (levels) {
            return levels.stream().mapToInt(each -> level.apply(each).get()).sum();
        }
    }

    void subscribed(Subscription subscription) {
        levels.add(subscription.levels());
        current = subscription;
        changed(subscription.settings());
    }

    /**
     * Registers the gauge of receives that are left before SQS moves a message to the dead-letter queue. Called again
     * if the queue's {@code maxReceiveCount} has changed.
     */
    void changed(QueueSettings settings) {
        Integer most = settings.maxReceiveCount();
        // Without a dead-letter queue, SQS does not limit the number of receives, so there is no gauge.
        receivesLeft.register(
                most == null
                        ? List.of()
                        : List.of(MultiGauge.Row.of(Tags.empty(), () -> Math.max(0, most - mostReceives.poll()))),
                true);
    }

    void unsubscribed() {
        receivesLeft.register(List.of());
    }

    void received(int count, @Nullable Duration old) {
        increment(receives, RECEIVES.get(Math.min(Math.max(count, 1), RECEIVES.size()) - 1));
        mostReceives.record(count);
        if (old != null) {
            age.record(old);
        }
    }

    void claimed(ClaimOutcome outcome) {
        increment(claims, outcome.tag());
        if (outcome instanceof Acquired acquired && acquired.inDoubt()) {
            takeovers.increment();
        }
    }

    void keyMissing(MissingKeyPolicy policy) {
        increment(keysMissing, policy);
    }

    /** Counts a completion only if the delivery has a key. Otherwise there is nothing to complete. */
    void settled(Delivery delivery, DeliveryState state) {
        if (state == DeliveryState.ABANDONED) {
            abandoned.increment();
        } else if (state == DeliveryState.DELETING && delivery.wasCalled() && !delivery.isUnprotected()) {
            completions.increment();
        }
    }

    void renewed(Target target, Result result) {
        increment(Objects.requireNonNull(renewals.get(target)), result);
    }

    /** @param received the queue's visibility timeout at the time of the message's receive */
    void delivered(Duration elapsed, VisibilityWindow received) {
        delivery.record(elapsed);
        if (elapsed.compareTo(received.length()) > 0) {
            exceeded.increment();
        }
    }
}
