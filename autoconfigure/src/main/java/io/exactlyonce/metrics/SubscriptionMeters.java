package io.exactlyonce.metrics;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.renewal.RenewalObserver;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.watch.WindowWatch;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The meters of one listener on one queue, all there from the start, so that alerts on rates see zeros first. They go on
 * when the listener is stopped and started again.
 */
final class SubscriptionMeters {

    private static final List<String> OUTCOMES =
            List.of("acquired", "already_completed", "mismatch", "held_elsewhere", "parked");

    /** Where one meter is all that changes, {@link DeliveryMetrics} changes it itself. */
    final WindowMeters window;

    final ReceiveMeters receives;
    final Counter handlerTimeouts;
    final Counter acknowledgements;
    final Counter receivesRunOut;
    final Counter completionsLost;
    final AtomicInteger inFlight = new AtomicInteger();
    final AtomicInteger completing = new AtomicInteger();

    private final Meters meters;
    private final Counter abandoned;
    private final Counter completions;
    private final Counter takeovers;
    private final Map<String, Counter> claims = new HashMap<>();
    private final Map<String, Counter> renewals = new HashMap<>();
    private final Map<Subscription, Integer> waiting = new ConcurrentHashMap<>();
    private final Map<String, AtomicBoolean> paused = new ConcurrentHashMap<>();

    SubscriptionMeters(MeterRegistry registry, Subscription subscription, WindowWatch watch) {
        meters = Meters.of(registry, subscription.listener(), subscription.queue());
        window = new WindowMeters(meters, subscription, watch);
        receives = new ReceiveMeters(meters);
        handlerTimeouts = meters.counter(
                "exactly.once.handler.timeouts",
                "Handlers that ran into their listener's timeout and were interrupted; counted for each message of a"
                        + " batch");
        abandoned = meters.counter(
                "exactly.once.handlers.abandoned",
                "Deliveries whose handler was called and whose effect is not on record: claim lost, or stopped from"
                        + " outside. They are neither deleted nor returned");
        completions = meters.counter(
                "exactly.once.completions",
                "Deliveries whose handler succeeded and whose key is recorded as completed");
        acknowledgements = meters.counter(
                "exactly.once.acknowledgements",
                "Messages deleted, confirmed by the queue; duplicates, too, so that it exceeds completions where SQS"
                        + " delivers twice");
        takeovers = meters.counter(
                "exactly.once.takeovers",
                "Claims acquired in doubt: an earlier attempt vanished or was stopped, and may have had effects");
        receivesRunOut = meters.counter(
                "exactly.once.receives.run.out",
                "Deliveries that wait although they have at most one receive left before the dead-letter queue");
        completionsLost = meters.counter(
                "exactly.once.completions.lost",
                "Handlers that succeeded after another worker had taken their key over: their results were discarded, and"
                        + " their effects may have happened twice");
        registerGauges();
        registerByOutcome();
    }

    private void registerGauges() {
        meters.gauge(
                "exactly.once.in.flight",
                null,
                "Deliveries of this instance that are neither deleted nor returned nor abandoned yet; waiting ones, too."
                        + " SQS allows about 120,000 for all consumers of a queue",
                inFlight::get);
        meters.gauge(
                "exactly.once.waiting",
                null,
                "Deliveries that wait, invisible, without a thread: for the holder of their key, or for the database",
                () -> waiting.values().stream().mapToInt(Integer::intValue).sum());
        meters.gauge(
                "exactly.once.completions.pending",
                null,
                "Deliveries whose handlers have ended, and whose outcome is not on record yet. A listener with as many of"
                        + " them as it may handle messages at a time does not poll",
                completing::get);
    }

    private void registerByOutcome() {
        for (String outcome : OUTCOMES) {
            claims.put(
                    outcome,
                    meters.counter(
                            "exactly.once.claims",
                            "Claims on keys, by what they met: acquired; already_completed (a duplicate was deleted);"
                                    + " mismatch (the key is completed, for another payload; the message was returned, or"
                                    + " deleted with on-mismatch=warn); held_elsewhere (one waits); parked (the key waits"
                                    + " for a person; the message was returned)",
                            "outcome",
                            outcome));
        }
        for (RenewalObserver.Target target : RenewalObserver.Target.values()) {
            for (RenewalObserver.Result result : RenewalObserver.Result.values()) {
                renewals.put(
                        tag(target) + tag(result),
                        meters.counter(
                                "exactly.once.renewals",
                                "Renewals of windows and of leases: succeeded, failed (will be retried), lost (will not)",
                                "target",
                                tag(target),
                                "result",
                                tag(result)));
            }
        }
    }

    /** The way is known when the listener subscribes to it. */
    private AtomicBoolean registerPaused(String way) {
        AtomicBoolean isPaused = new AtomicBoolean();
        meters.gauge(
                "exactly.once.listener.paused",
                null,
                "1 while polling is paused since claims get no answer, else 0; the way says where: claims for the claims'"
                        + " own pool, or the name of the transaction manager in whose transactions the listener claims",
                () -> isPaused.get() ? 1 : 0,
                "way",
                way);
        return isPaused;
    }

    void subscribed(Subscription subscription) {
        window.found(subscription);
        receives.subscribed(subscription);
    }

    void claimed(ClaimOutcome outcome) {
        increment(claims, outcome.tag());
        if (outcome instanceof Acquired acquired && acquired.ambiguous()) {
            takeovers.increment();
        }
    }

    void settled(Delivery delivery, DeliveryState state) {
        if (state == DeliveryState.ABANDONED) {
            abandoned.increment();
        } else if (state == DeliveryState.DELETING && delivery.wasHandled()) {
            completions.increment();
        }
    }

    void renewed(RenewalObserver.Target target, RenewalObserver.Result result) {
        increment(renewals, tag(target) + tag(result));
    }

    /** Deliveries of a listener that was restarted may wait beside those that it has received since. */
    void waiting(Subscription subscription, int deliveries) {
        waiting.compute(subscription, (key, before) -> deliveries == 0 ? null : deliveries);
    }

    void paused(String way, boolean isPaused) {
        paused.computeIfAbsent(way, this::registerPaused).set(isPaused);
    }

    private static void increment(Map<String, Counter> counters, String name) {
        Objects.requireNonNull(counters.get(name)).increment();
    }

    private static String tag(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
