package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.MessageVisibility;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The deliveries in flight. They are renewed from their receive until they are deleted, returned or abandoned, so that
 * none is renewed forever.
 *
 * <p>A listener stops in three steps, each of which may be repeated: {@link #beginStop}, {@link #interruptHandlers},
 * {@link #endStop}. Renewals continue until the last step, so that no message that is still being handled or deleted is
 * redelivered. From the first step on, no handler of the listener begins, and unprocessed messages are visible to other
 * consumers at once. A delivery on its last receive is an exception, because its queue would not deliver it again: it
 * continues while its listener waits for handlers.
 */
public final class Deliveries {

    private static final Logger log = LoggerFactory.getLogger(Deliveries.class);

    /** How long interrupted handlers may take to end. */
    private static final Duration LAST_MOMENT = Duration.ofSeconds(2);

    private final Renewer renewer;
    private final RetryingClaimClient claims;
    private final DeliveryObserver observer;
    private final OutcomePolicy policy;
    private final NanoClock clock;
    private final WaitingDeliveries waiting;
    private final Set<Delivery> inFlight = ConcurrentHashMap.newKeySet();

    /**
     * @param renewer renews visibility timeouts and leases
     * @param claims looks up keys and releases claims
     * @param policy decides on duplicates, and on the delay of returned deliveries
     * @param observer is notified of the end of each delivery
     * @param clock monotonic, in nanoseconds
     * @param mostWaiting how many deliveries may wait for a key at any time; more are returned
     */
    public Deliveries(
            Renewer renewer,
            RetryingClaimClient claims,
            OutcomePolicy policy,
            DeliveryObserver observer,
            NanoClock clock,
            int mostWaiting) {
        this.renewer = renewer;
        this.claims = claims;
        this.policy = policy;
        this.observer = observer;
        this.clock = clock;
        this.waiting = new WaitingDeliveries(this, claims, policy, observer, clock, mostWaiting);
    }

    /** Returns the deliveries that wait for a key. */
    public WaitingDeliveries waiting() {
        return waiting;
    }

    /**
     * Renews deliveries from now on, before a handler has a thread for them. Deliveries of a stopping listener are
     * returned at once.
     */
    public void begin(Collection<Delivery> received) {
        for (Delivery delivery : received) {
            Subscription subscription = delivery.subscription();
            delivery.renewBy(renewer.start(
                    subscription,
                    delivery.settings().window(),
                    delivery.messageId(),
                    delivery.receiptHandle(),
                    delivery.receivedAt()));
            if (inFlight.add(delivery)) {
                subscription.levels().inFlight().incrementAndGet();
            }
        }
        // The listener may have stopped before the answer to its poll came.
        List<Delivery> late = received.stream()
                .filter(delivery -> delivery.subscription().isStopping())
                .toList();
        if (!late.isEmpty()) {
            returnUnstarted(late.get(0).subscription(), late);
        }
    }

    /**
     * Applies the decision on a delivery that has left its listener. A delivery without a decision has failed, or was
     * not claimed: it is returned with backoff, or at once if it was held back.
     *
     * @return whether the message is to be deleted; then it is renewed until the delete is confirmed
     */
    public boolean settle(Delivery delivery) {
        Optional<DeliveryState> settled = delivery.settle();
        if (settled.isEmpty()) {
            return false;
        }
        observer.on(new DeliveryEvent.Settled(delivery, settled.get()));
        Disposition decided = delivery.disposition();
        switch (settled.get()) {
            case ABANDONED -> end(delivery);
            case WAITING ->
                waiting.admit(delivery, decided instanceof Disposition.Wait wait ? wait.leastDelay() : Duration.ZERO);
            case RETURNED -> {
                Duration undecided = delivery.isHeldBack()
                        ? Duration.ZERO
                        : policy.of(delivery).backoff().after(delivery);
                logFailed(delivery, undecided);
                notifyOfLastReceive(delivery);
                returnAfter(delivery, decided instanceof Disposition.Return back ? back.delay() : undecided);
            }
            // The failure came after the handler, for example from an interceptor.
            default -> logFailed(delivery, null);
        }
        return settled.get() == DeliveryState.DELETING;
    }

    private static void logFailed(Delivery delivery, @Nullable Duration delay) {
        if (delivery.disposition() == null && delivery.attempt().failure() != null) {
            log.warn(
                    "{} failed with {}; next attempt {}",
                    delivery,
                    delivery.attempt().failure(),
                    nextAttempt(delivery, delay));
        }
    }

    /** Reports a failed attempt on the last receive, even if the attempt parked its key. */
    private void notifyOfLastReceive(Delivery delivery) {
        Integer most = delivery.settings().maxReceiveCount();
        if (most != null && delivery.isOnItsLastReceive() && delivery.attempt().failure() != null) {
            observer.on(new DeliveryEvent.LastReceiveFailed(
                    delivery.subscription(),
                    delivery.attempt().key(),
                    delivery.receiveCount(),
                    most,
                    delivery.settings().deadLetterQueue()));
        }
    }

    private static String nextAttempt(Delivery delivery, @Nullable Duration delay) {
        if (delay == null) {
            return "none: its handler has succeeded";
        }
        if (delivery.isOnItsLastReceive()) {
            QueueSettings queue = delivery.settings();
            return "none: receive %d of %d was its last, and its queue moves it to the dead-letter queue%s"
                    .formatted(
                            delivery.receiveCount(),
                            queue.maxReceiveCount(),
                            queue.deadLetterQueue() == null ? "" : " '%s'".formatted(queue.deadLetterQueue()));
        }
        return delivery.visibility().isInvisible()
                ? "in %.1f s".formatted(delay.toMillis() / 1_000.0)
                : "when SQS redelivers it: its visibility timeout is over";
    }

    /**
     * Applies the decision on a delivery whose listener is stopping, or that must not be handled now.
     *
     * @return whether the message is to be deleted; then it is renewed until the delete is confirmed
     */
    public boolean settleWhileStopping(Delivery delivery) {
        delivery.holdBack();
        return settle(delivery);
    }

    /**
     * Makes a delivery visible after a delay. Returned deliveries are not measured, because a burst of quick failures
     * would hide slow deliveries.
     */
    void returnAfter(Delivery delivery, Duration delay) {
        returnAll(delivery.subscription(), Map.of(delivery, delay));
    }

    /** Makes deliveries of one listener visible together. */
    void returnAll(Subscription subscription, Map<Delivery, Duration> delays) {
        if (delays.isEmpty()) {
            return;
        }
        log.debug("Returning {}", delays);
        Map<MessageVisibility, Duration> visibilities = new LinkedHashMap<>();
        delays.forEach((delivery, delay) -> visibilities.put(delivery.visibility(), delay));
        MessageVisibility.returnAll(subscription, visibilities);
        for (Delivery delivery : delays.keySet()) {
            leave(delivery);
            delivery.end();
        }
    }

    /** Removes a delivery. Returns whether it was in flight until now. */
    private boolean leave(Delivery delivery) {
        boolean left = inFlight.remove(delivery);
        if (left) {
            delivery.subscription().levels().inFlight().decrementAndGet();
        }
        return left;
    }

    /** Deletes a message whose pipeline ended. The message is renewed until the queue confirms the delete. */
    void delete(Delivery delivery) {
        try {
            delivery.delete();
        } catch (RuntimeException failure) {
            log.warn(
                    "Deleting {} failed; it may be redelivered as a duplicate",
                    delivery,
                    PrintableException.of(failure));
            end(delivery);
        }
    }

    /** Ends a delivery that was not returned. Releases a claim that did not reach its handler. */
    void end(Delivery delivery) {
        delivery.visibility().stop();
        // The listener may have stopped before the delete was confirmed.
        if (leave(delivery) && delivery.wasCalled()) {
            Duration taken = Duration.ofNanos(clock.nanoTime() - delivery.receivedAt());
            observer.on(new DeliveryEvent.Delivered(
                    delivery.subscription(), delivery.settings().window(), taken));
        }
        if (delivery.end()) {
            Boundary.detach("The release of a claim", claims.release(delivery));
        }
    }

    /**
     * Called before the delete is requested from the queue.
     *
     * @return completes when the delete may be requested: all renewals that started before this call have ended
     */
    public CompletableFuture<Void> acknowledging(Delivery delivery) {
        return delivery.visibility().deleting();
    }

    /** Called when the queue has confirmed the delete. */
    public void acknowledged(Delivery delivery) {
        observer.on(new DeliveryEvent.Acknowledged(delivery));
        end(delivery);
    }

    /** Called when the queue has rejected the delete. The message will be redelivered as a duplicate. */
    public void acknowledgementFailed(Delivery delivery) {
        log.warn("Deleting {} failed; it may be redelivered as a duplicate", delivery);
        end(delivery);
    }

    /**
     * Abandons deliveries after a crash of their thread, as if the process had been killed. They are no longer renewed,
     * and are neither released nor returned nor deleted. May be called twice for a delivery.
     */
    public void abandon(Collection<Delivery> deliveries) {
        for (Delivery delivery : deliveries) {
            if (delivery.isRenewed()) {
                boolean isAbandoned = delivery.crash();
                end(delivery);
                if (isAbandoned) {
                    observer.on(new DeliveryEvent.Settled(delivery, delivery.state()));
                }
            }
        }
    }

    private List<Delivery> of(Subscription subscription) {
        return inFlight.stream()
                .filter(delivery -> delivery.subscription().equals(subscription))
                .toList();
    }

    /**
     * Begins the stop. Messages that no handler has started are made visible at once, including messages that are
     * received later. Deliveries that wait for a key are returned. Running handlers continue.
     */
    public void beginStop(Subscription subscription) {
        // Set first, so that deliveries that begin or arrive during the stop see it.
        subscription.stop();
        // Returned before waits end: when the wait of a group's head ends, the rest of the group starts.
        returnUnstarted(subscription, of(subscription));
        waiting.endAll(subscription);
    }

    /**
     * Interrupts the handlers that are still running, except handlers that outlive the stop. If a handler ends soon,
     * its claim is released and its message returned, before threads and database connections close. Other claims end
     * with their leases.
     */
    public void interruptHandlers(Subscription subscription) {
        beginStop(subscription);
        // Includes deliveries on their last receive, because the stop does not wait for them.
        returnHeldBack(subscription, of(subscription));
        List<Delivery> running = of(subscription).stream()
                .filter(delivery -> !delivery.isAbandoned() && !delivery.outlivesStop())
                .toList();
        running.forEach(Delivery::abandon);
        awaitLastMoment(subscription, running);
        for (Delivery delivery : running) {
            // The pipeline may no longer have a thread for this.
            if (delivery.processed().isDone() && settleWhileStopping(delivery)) {
                delete(delivery);
            }
        }
    }

    /**
     * Stops the renewals of the listener's deliveries, except deliveries that outlive the stop and end by themselves.
     */
    public void endStop(Subscription subscription) {
        interruptHandlers(subscription);
        of(subscription).stream().filter(delivery -> !delivery.outlivesStop()).forEach(this::end);
    }

    private static void awaitLastMoment(Subscription subscription, List<Delivery> abandoned) {
        try {
            CompletableFuture.allOf(abandoned.stream().map(Delivery::processed).toArray(CompletableFuture[]::new))
                    .get(LAST_MOMENT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException stubborn) {
            log.warn("Handlers of {} continue after an interrupt; their claims end with their leases", subscription);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    /** Makes messages visible that no handler has started, except messages on their last receive. */
    private void returnUnstarted(Subscription subscription, Collection<Delivery> received) {
        returnHeldBack(
                subscription,
                received.stream()
                        .filter(delivery -> !delivery.isOnItsLastReceive())
                        .toList());
    }

    private void returnHeldBack(Subscription subscription, Collection<Delivery> received) {
        Map<Delivery, Duration> unstarted = new LinkedHashMap<>();
        for (Delivery delivery : received) {
            if (delivery.holdClaimBack()) {
                Boundary.whenComplete(
                        delivery,
                        claims.release(delivery),
                        (released, none) -> {
                            if (delivery.transition(DeliveryState.HELD_BACK, DeliveryState.RETURNED)) {
                                returnAfter(delivery, Duration.ZERO);
                            }
                            delivery.endProcessing();
                        },
                        crash -> delivery.endProcessing());
            } else if (!delivery.attempt().isAcquired()
                    && delivery.holdBack()
                    && delivery.transition(DeliveryState.HELD_BACK, DeliveryState.RETURNED)) {
                unstarted.put(delivery, Duration.ZERO);
            }
        }
        returnAll(subscription, unstarted);
    }
}
