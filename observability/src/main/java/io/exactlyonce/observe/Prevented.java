package io.exactlyonce.observe;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts repeated handler calls that claims have prevented on this instance.
 *
 * <p>Logs each takeover. Suppressed duplicates can be frequent, so each listener logs its first one at once, and the
 * number of later ones once an hour. Deliveries that took longer than the visibility timeout are logged in the same
 * way.
 */
public final class Prevented implements DeliveryEvent.SelectiveObserver {

    private static final Logger log = LoggerFactory.getLogger(Prevented.class);

    private static final long INTERVAL_NANOS = Duration.ofHours(1).toNanos();

    private final NanoClock clock;
    private final Map<ListenerQueue, Listener> listeners = new ConcurrentHashMap<>();
    private long loggedAt;

    /**
     * How many repeats were prevented since this instance started.
     *
     * @param duplicatesSuppressed messages that were deleted without a handler call, because their key was completed
     * @param overlapsThatWaited deliveries that had to wait, because another delivery owned their key
     * @param takeovers new attempts after an attempt whose outcome is unknown, for example because its process crashed
     * @param mismatches messages whose key was completed before with a different payload
     */
    public record Counts(long duplicatesSuppressed, long overlapsThatWaited, long takeovers, long mismatches) {

        private Counts plus(Counts more) {
            return new Counts(
                    duplicatesSuppressed + more.duplicatesSuppressed,
                    overlapsThatWaited + more.overlapsThatWaited,
                    takeovers + more.takeovers,
                    mismatches + more.mismatches);
        }
    }

    /** A counter for the log. The first event is logged at once, and the number of later ones once an hour. */
    private static final class Total {
        private final AtomicLong count = new AtomicLong();
        private long logged = 1;

        boolean begins() {
            return count.incrementAndGet() == 1;
        }

        void log(String line, ListenerQueue listener) {
            long all = count.get();
            if (all > logged) {
                log.info(line, listener, all - logged, all);
                logged = all;
            }
        }
    }

    private static final class Listener {
        private final Total duplicates = new Total();
        private final Total beyondTimeout = new Total();
        private final AtomicLong overlaps = new AtomicLong();
        private final AtomicLong takeovers = new AtomicLong();
        private final AtomicLong mismatches = new AtomicLong();

        Counts counts() {
            return new Counts(duplicates.count.get(), overlaps.get(), takeovers.get(), mismatches.get());
        }
    }

    /** @param clock the clock that {@link Delivery#receivedAt()} comes from */
    public Prevented(NanoClock clock) {
        this.clock = clock;
        this.loggedAt = clock.nanoTime();
    }

    @Override
    public void settled(DeliveryEvent.Settled event) {
        if (event.delivery().wasCalled()) {
            handled(event.delivery());
        }
    }

    @Override
    public void claimed(DeliveryEvent.Claimed event) {
        Subscription subscription = event.subscription();
        ClaimOutcome outcome = event.outcome();
        if (outcome instanceof ClaimOutcome.Acquired acquired && acquired.inDoubt()) {
            of(subscription).takeovers.incrementAndGet();
            log.info(
                    "{} takes {} over at attempt {}: an earlier attempt reported no outcome, because its process died, its timeout"
                            + " expired, or it was stopped. Its effect may have happened",
                    subscription,
                    event.key(),
                    acquired.attempt());
        } else if (outcome instanceof ClaimOutcome.AlreadyCompleted) {
            if (of(subscription).duplicates.begins()) {
                log.info(
                        "{} suppressed its first duplicate: {} is completed, so the message is deleted without a handler call."
                                + " From now on the number is logged once an hour",
                        subscription,
                        event.key());
            }
        } else if (outcome instanceof ClaimOutcome.HeldElsewhere) {
            of(subscription).overlaps.incrementAndGet();
        } else if (outcome instanceof ClaimOutcome.Mismatch) {
            of(subscription).mismatches.incrementAndGet();
        }
    }

    private void handled(Delivery delivery) {
        Subscription subscription = delivery.subscription();
        Duration taken = Duration.ofNanos(clock.nanoTime() - delivery.receivedAt());
        Duration timeout = delivery.settings().window().length();
        if (taken.compareTo(timeout) > 0 && of(subscription).beyondTimeout.begins()) {
            log.info(
                    "{} took {} s from its receive to the end of its handler, and the visibility timeout is {} s. From now on the"
                            + " number of such deliveries is logged once an hour",
                    delivery,
                    taken.toSeconds(),
                    timeout.toSeconds());
        }
    }

    /** Logs the numbers of new events once an hour. Must always be called on the same thread. */
    public void tick() {
        long now = clock.nanoTime();
        if (now - loggedAt >= INTERVAL_NANOS) {
            loggedAt = now;
            listeners.forEach((key, listener) -> {
                listener.duplicates.log("{} suppressed {} more duplicates, {} since the start", key);
                listener.beyondTimeout.log(
                        "{} had {} more deliveries that took longer than the visibility timeout, {} since the start",
                        key);
            });
        }
    }

    /** Returns the counts of all listeners together, including stopped ones. */
    public Counts all() {
        return listeners.values().stream().map(Listener::counts).reduce(new Counts(0, 0, 0, 0), Counts::plus);
    }

    /** Returns the counts of one listener on one queue. */
    public Counts counts(Subscription subscription) {
        return of(subscription).counts();
    }

    private Listener of(Subscription subscription) {
        return listeners.computeIfAbsent(subscription.listenerQueue(), key -> new Listener());
    }
}
