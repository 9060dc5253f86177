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
 * The deliveries in flight. Each delivery is renewed from its receive until its message is deleted, returned or
 * abandoned.
 *
 * <p>A listener stops in three steps, which may be repeated: {@link #beginStop}, {@link #interruptHandlers}, {@link
 * #endStop}. Renewals continue until the last step, so that SQS redelivers no message that is still being handled or
 * deleted.
 *
 * <p>From the first step on, no handler of the listener begins, and the messages that were not handled are visible to
 * other consumers at once. There is one exception: a delivery on its last receive is still handled while its listener
 * waits for handlers, because its queue would not deliver the message again.
 */
public final class Deliveries {

    private static final Logger log = LoggerFactory.getLogger(Deliveries.class);

    /** The time that interrupted handlers get to end. */
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
     * @param mostWaiting how many deliveries may wait for the owners of their keys at any time; further ones are
     *     returned
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

    /** Returns the deliveries that wait for the owners of their keys. */
    public WaitingDeliveries waiting() {
        return waiting;
    }

    /**
     * Renews deliveries from now on, even if no thread is free for their handler yet. Returns the deliveries at once if
     * their listener is stopping.
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
        // The listener may have stopped before SQS answered its poll.
        List<Delivery> late = received.stream()
                .filter(delivery -> delivery.subscription().isStopping())
                .toList();
        if (!late.isEmpty()) {
            returnUnstarted(late.get(0).subscription(), late);
        }
    }

    /**
     * Applies the decision on a delivery that has left its listener's pipeline. If there is no decision, the delivery
     * has failed or was not claimed, and is returned with backoff. A delivery that was held back is returned at once.
     *
     * @return whether the caller must delete the message. The message is renewed until the delete is confirmed
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
            // The delivery failed after its handler had succeeded, for example in an interceptor.
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

    /** Reports an attempt that failed on the last receive of its message, even if the attempt parked its key. */
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
     * Applies the decision on a delivery that must not be handled now, for example because its listener is stopping.
     *
     * @return whether the caller must delete the message. The message is renewed until the delete is confirmed
     */
    public boolean settleWhileStopping(Delivery delivery) {
        delivery.holdBack();
        return settle(delivery);
    }

    /**
     * Makes a delivery's message visible after a delay. The time that a returned delivery took is not measured, because
     * a burst of quick failures would hide slow deliveries.
     */
    void returnAfter(Delivery delivery, Duration delay) {
        returnAll(delivery.subscription(), Map.of(delivery, delay));
    }

    /** Makes messages of one listener visible together, each after its delay. */
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

    /** Removes a delivery. Returns false if the delivery was removed before. */
    private boolean leave(Delivery delivery) {
        boolean left = inFlight.remove(delivery);
        if (left) {
            delivery.subscription().levels().inFlight().decrementAndGet();
        }
        return left;
    }

    /**
     * Deletes the message of a delivery that has left the pipeline. The message is renewed until the queue confirms the
     * delete.
     */
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

    /**
     * Ends a delivery that was not returned. If the delivery still holds a claim and its handler was not called,
     * releases the claim.
     */
    void end(Delivery delivery) {
        delivery.visibility().stop();
        // A delivery ends twice if its listener stops before the delete is confirmed. Only the first end is reported.
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
     * @return completes when the delete may be requested, because all renewals that started before this call have ended
     */
    public CompletableFuture<Void> acknowledging(Delivery delivery) {
        return delivery.visibility().deleting();
    }

    /** Called when the queue has confirmed the delete. */
    public void acknowledged(Delivery delivery) {
        observer.on(new DeliveryEvent.Acknowledged(delivery));
        end(delivery);
    }

    /** Called when the queue has rejected the delete. SQS may redeliver the message, as a duplicate. */
    public void acknowledgementFailed(Delivery delivery) {
        log.warn("Deleting {} failed; it may be redelivered as a duplicate", delivery);
        end(delivery);
    }

    /**
     * Abandons deliveries after a crash of their thread, as if the process had been killed. Renewals stop. No claim is
     * released, and no message is returned or deleted. May be called twice for a delivery.
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
     * Begins the stop of a listener:
     * <ul>
     * <li>Messages that no handler has started are made visible at once, except those on their last receive. This
     * includes messages that arrive later.
     * <li>Deliveries that wait for the owner of their key are returned.
     * <li>Running handlers continue.
     * </ul>
     */
    public void beginStop(Subscription subscription) {
        // Comes first, so that deliveries that begin or arrive during the stop detect it.
        subscription.stop();
        // Comes before the waits end. If the wait of a FIFO group's first message ended earlier, later messages would
        // start.
        returnUnstarted(subscription, of(subscription));
        waiting.endAll(subscription);
    }

    /**
     * Interrupts the handlers that are still running, except handlers that outlive the stop. If a handler ends soon
     * after the interrupt, its outcome is recorded and its message is returned or deleted, before threads and database
     * connections close. The claim of any other handler ends with its lease.
     */
    public void interruptHandlers(Subscription subscription) {
        beginStop(subscription);
        // Includes deliveries on their last receive, because the stop no longer waits for them.
        returnHeldBack(subscription, of(subscription));
        List<Delivery> running = of(subscription).stream()
                .filter(delivery -> !delivery.isAbandoned() && !delivery.outlivesStop())
                .toList();
        running.forEach(Delivery::abandon);
        awaitLastMoment(subscription, running);
        for (Delivery delivery : running) {
            // Settled here, because the pipeline may have no thread left to settle the delivery.
            if (delivery.processed().isDone() && settleWhileStopping(delivery)) {
                delete(delivery);
            }
        }
    }

    /**
     * Ends the listener's deliveries and their renewals. Leaves out deliveries that outlive the stop, because they end
     * by themselves.
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
