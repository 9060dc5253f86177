package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.KeyState.Status;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Keeps the deliveries that wait for the owner of their key. They occupy no thread, and do not count toward the
 * in-flight limit. Their messages stay invisible, because their visibility timeouts are renewed.
 *
 * <p>Each {@link #tick()} looks up all these keys in one call. If a key is completed, the message is deleted as a
 * duplicate. If a key is free, the message is made visible, so that SQS delivers it again. A waiting delivery does not
 * need the message's content, so the content is dropped. About a kilobyte stays in memory.
 *
 * <p>Only the thread that removes a delivery from the set may end its wait. If the visibility timeout is lost, nothing
 * is sent to SQS, because another consumer may have the message.
 */
public final class WaitingDeliveries {

    /** Time between two lookups. A delivery notices at most this much later that its key is free or completed. */
    public static final Duration INTERVAL = Duration.ofMillis(250);

    private static final Logger log = LoggerFactory.getLogger(WaitingDeliveries.class);

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private final Deliveries inFlight;
    private final RetryingClaimClient claims;
    private final OutcomePolicy policy;
    private final DeliveryObserver observer;
    private final NanoClock clock;
    private final int most;
    private final Set<Delivery> deliveries = ConcurrentHashMap.newKeySet();
    private final AtomicInteger taken = new AtomicInteger();
    private final Map<String, Long> warnings = new ConcurrentHashMap<>();
    private BackOffExecution pauses = pauses();
    private long notBefore;

    WaitingDeliveries(
            Deliveries inFlight,
            RetryingClaimClient claims,
            OutcomePolicy policy,
            DeliveryObserver observer,
            NanoClock clock,
            int most) {
        this.inFlight = inFlight;
        this.claims = claims;
        this.policy = policy;
        this.observer = observer;
        this.clock = clock;
        this.most = most;
        this.notBefore = clock.nanoTime();
    }

    /** Returns the pauses after failed lookups. They double up to four seconds. */
    private static BackOffExecution pauses() {
        ExponentialBackOff pauses = new ExponentialBackOff(INTERVAL.toMillis(), 2);
        pauses.setMaxInterval(INTERVAL.multipliedBy(16).toMillis());
        return pauses.start();
    }

    /**
     * Lets a delivery wait. If too many deliveries wait already, or if the listener has stopped, its message is
     * returned instead. After a stop, an invisible message would keep other consumers from the rest of its FIFO group.
     */
    void admit(Delivery delivery, Duration leastDelay) {
        Subscription subscription = delivery.subscription();
        if (delivery.isHeldBack()) {
            reject(delivery, Duration.ZERO);
            return;
        }
        checkReceives(delivery);
        if (taken.incrementAndGet() > most) {
            taken.decrementAndGet();
            reject(delivery, leastDelay);
            return;
        }
        subscription.levels().waiting().incrementAndGet();
        // The content is dropped first. As soon as the delivery is among the waiting ones, another thread may end its
        // wait.
        delivery.attempt().forgetContent();
        deliveries.add(delivery);
        // The listener may have stopped, and ended all waits, before this delivery was added.
        if (subscription.isStopping()) {
            endAll(subscription);
        }
    }

    /** Returns a delivery that cannot wait. */
    private void reject(Delivery delivery, Duration leastDelay) {
        Duration sparing = policy.of(delivery).backoff().sparing(delivery);
        returnAfter(delivery, sparing.compareTo(leastDelay) > 0 ? sparing : leastDelay);
    }

    private void returnAfter(Delivery delivery, Duration delay) {
        if (delivery.transition(DeliveryState.WAITING, DeliveryState.RETURNED)) {
            inFlight.returnAfter(delivery, delay);
        }
    }

    /**
     * Called when a listener stops. Makes its waiting messages visible after a delay, so that they wait in other
     * processes. Without the delay, a rolling deployment would quickly use up the receives of these messages.
     */
    void endAll(Subscription subscription) {
        Map<Delivery, Duration> ended = new LinkedHashMap<>();
        for (Delivery delivery : deliveries) {
            if (delivery.subscription().equals(subscription)
                    && take(delivery)
                    && delivery.transition(DeliveryState.WAITING, DeliveryState.RETURNED)) {
                ended.put(delivery, policy.of(delivery).backoff().sparing(delivery));
            }
        }
        inFlight.returnAll(subscription, ended);
    }

    private boolean take(Delivery delivery) {
        boolean isTaken = deliveries.remove(delivery);
        if (isTaken) {
            taken.decrementAndGet();
            delivery.subscription().levels().waiting().decrementAndGet();
        }
        return isTaken;
    }

    /** Looks up the keys, and ends the waits that are over. A failed lookup is logged. Called by one thread. */
    public void tick() {
        for (Delivery delivery : deliveries) {
            if (!delivery.visibility().isInvisible() && take(delivery)) {
                inFlight.end(delivery);
            }
        }
        // The list is copied before the lookup, because the lookup's answer may be too old for deliveries that begin to
        // wait during the lookup.
        List<Delivery> waiting = List.copyOf(deliveries);
        if (waiting.isEmpty() || notBefore - clock.nanoTime() > 0) {
            return;
        }
        try {
            endWaits(
                    waiting,
                    claims.peek(waiting.stream()
                            .map(delivery -> delivery.attempt().key())
                            .collect(Collectors.toSet())));
            pauses = pauses();
        } catch (RuntimeException failure) {
            long pause = pauses.nextBackOff();
            notBefore = clock.nanoTime() + Duration.ofMillis(pause).toNanos();
            log.debug(
                    "Looking up the keys of {} waiting deliveries failed; again in {} ms",
                    waiting.size(),
                    pause,
                    PrintableException.of(failure));
        }
    }

    /**
     * Ends the waits for keys that are free, completed or parked.
     *
     * <p>If several deliveries wait for the same free key, only one is made visible. The others could not claim the
     * key, and would each use up a receive.
     *
     * <p>While the circuit breaker is open, a message whose key is free becomes visible only when a trial poll is due.
     */
    private void endWaits(List<Delivery> waiting, Map<ClaimKey, KeyState> states) {
        Set<ClaimKey> exposed = new HashSet<>();
        for (Delivery delivery : waiting) {
            ClaimKey key = delivery.attempt().key();
            KeyState state = states.getOrDefault(key, KeyState.HELD);
            boolean isOver = state.status() == Status.FREE
                    ? delivery.subscription().gate().permitsPolling() && exposed.add(key)
                    : state.status() != Status.HELD;
            if (isOver && take(delivery)) {
                log.debug("{} has waited: its key {} is {}", delivery, key, state.status());
                endWait(delivery, state);
            }
        }
    }

    private void endWait(Delivery delivery, KeyState state) {
        switch (state.status()) {
            case FREE -> returnAfter(delivery, Duration.ZERO);
            case COMPLETED -> completed(delivery, state);
            default -> returnAfter(delivery, policy.foundParked(delivery).delay());
        }
    }

    /** Treats the delivery like a newly received one whose key is already completed. */
    private void completed(Delivery delivery, KeyState state) {
        ClaimOutcome outcome = ClaimOutcome.ofCompleted(delivery.attempt().request(), state.fingerprint(), null);
        observer.on(new DeliveryEvent.Claimed(
                delivery.subscription(), delivery.attempt().key(), outcome));
        if (policy.decide(delivery, outcome) instanceof Disposition.Return back) {
            returnAfter(delivery, back.delay());
        } else if (delivery.transition(DeliveryState.WAITING, DeliveryState.DELETING)) {
            inFlight.delete(delivery);
        }
    }

    /**
     * Reports a message that has at most one receive left before the dead-letter queue, although its handler was not
     * called. Logs this at WARN, at most once a minute.
     */
    private void checkReceives(Delivery delivery) {
        Subscription subscription = delivery.subscription();
        Integer mostReceives = delivery.settings().maxReceiveCount();
        if (mostReceives == null || delivery.receiveCount() < mostReceives - 1) {
            return;
        }
        observer.on(new DeliveryEvent.FinalReceive(subscription));
        long now = clock.nanoTime();
        Long last = warnings.get(subscription.toString());
        if (last == null || now - last >= BETWEEN_WARNINGS.toNanos()) {
            warnings.put(subscription.toString(), now);
            log.warn(
                    "{} waits untried for the owner of its key; its queue moves it to the dead-letter "
                            + "queue after {} receives. Raise maxReceiveCount, or find out why SQS redelivers it "
                            + "so often",
                    delivery,
                    mostReceives);
        }
    }
}
