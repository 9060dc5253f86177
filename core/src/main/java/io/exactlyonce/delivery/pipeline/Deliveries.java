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
 * Keeps the deliveries in flight. Each delivery is renewed until its message is deleted, returned or abandoned.
 *
 * <p>A listener stops in three steps: {@link #beginStop}, {@link #interruptHandlers}, {@link #endStop}. Each step may
 * be called again. Renewals continue until the last step. Otherwise SQS would redeliver messages that are still being
 * handled or deleted.
 *
 * <p>After the first step, no handler begins, and messages that were not handled are visible to other consumers at
 * once. Messages on their last receive are an exception, because SQS would not deliver them again. They are still
 * handled while the listener's stop waits for handlers.
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
     * @param claims looks up keys and releases claims
     * @param policy decides on duplicates, and on the delay of returned messages
     * @param observer is notified when a delivery ends
     * @param clock monotonic, in nanoseconds
     * @param mostWaiting limit of the deliveries that wait for the owners of their keys. Further ones are returned
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
     * Starts to renew received messages, even if no thread is free for their handler yet. If their listener is
     * stopping, the messages are returned at once.
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
     * Applies the decision on a delivery that has left its listener's pipeline. A failed delivery without a decision is
     * returned with backoff. A delivery that the listener's stop held back is returned at once.
     *
     * @return whether the caller must delete the message. Renewals continue until SQS confirms the delete
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
            // The handler succeeded, but the delivery failed later (for example in an interceptor).
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
     * Settles a delivery whose handler must not be called any more (for example because its listener stops).
     *
     * @return whether the caller must delete the message. Renewals continue until SQS confirms the delete
     */
    public boolean settleWhileStopping(Delivery delivery) {
        delivery.holdBack();
        return settle(delivery);
    }

    /**
     * Makes a message visible after a delay. Publishes no event with the delivery's time, because many quick failures
     * would hide slow deliveries in the metric.
     */
    void returnAfter(Delivery delivery, Duration delay) {
        returnAll(delivery.subscription(), Map.of(delivery, delay));
    }

    /** Makes several messages of one listener visible, each after its own delay. */
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
     * Deletes the message of a delivery that has left the pipeline. Renewals continue until SQS confirms the delete.
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

    /** Ends a delivery whose message is not returned. Releases the claim if the handler was not called. */
    void end(Delivery delivery) {
        delivery.visibility().stop();
        // A delivery ends twice if its listener stops before SQS confirms the delete. Only the first end is reported.
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
     * Called before the message is deleted.
     *
     * @return a future that completes when no earlier renewal is in progress any more. The delete may then be sent
     */
    public CompletableFuture<Void> acknowledging(Delivery delivery) {
        return delivery.visibility().deleting();
    }

    /** Called when the queue has confirmed the delete. */
    public void acknowledged(Delivery delivery) {
        observer.on(new DeliveryEvent.Acknowledged(delivery));
        end(delivery);
    }

    /** Called when SQS has rejected the delete. SQS may redeliver the message, as a duplicate. */
    public void acknowledgementFailed(Delivery delivery) {
        log.warn("Deleting {} failed; it may be redelivered as a duplicate", delivery);
        end(delivery);
    }

    /**
     * Abandons deliveries whose thread crashed, as if the process had been killed. Renewals stop. No claim is released,
     * and no message is returned or deleted. May be called twice for a delivery.
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
     * <li>Messages whose handler has not started become visible at once, except those on their last receive. Messages
     * that arrive later are treated in the same way.
     * <li>Deliveries that wait for the owner of their key are returned.
     * <li>Running handlers continue.
     * </ul>
     */
    public void beginStop(Subscription subscription) {
        // Comes first, so that deliveries that begin or arrive later see the stop.
        subscription.stop();
        // Waiting deliveries come last. If the wait of a FIFO group's first message ended earlier, the handlers of
        // later messages in its group could still start.
        returnUnstarted(subscription, of(subscription));
        waiting.endAll(subscription);
    }

    /**
     * Interrupts the handlers that are still running, and waits two seconds for them. If a handler ends in this time,
     * its outcome is recorded before database connections close. Otherwise its key stays claimed until the lease
     * expires. Handlers that called the stop themselves are left out.
     */
    public void interruptHandlers(Subscription subscription) {
        beginStop(subscription);
        // Deliveries on their last receive are returned, too, because the stop no longer waits for handlers.
        returnHeldBack(subscription, of(subscription));
        List<Delivery> running = of(subscription).stream()
                .filter(delivery -> !delivery.isAbandoned() && !delivery.outlivesStop())
                .toList();
        running.forEach(Delivery::abandon);
        awaitLastMoment(subscription, running);
        for (Delivery delivery : running) {
            // The pipeline may have no thread left to settle the delivery.
            if (delivery.processed().isDone() && settleWhileStopping(delivery)) {
                delete(delivery);
            }
        }
    }

    /**
     * Ends all deliveries of the listener, and their renewals. Handlers that called the stop themselves are left out,
     * because they end by themselves.
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

    /**
     * Makes messages visible whose handler has not started. Messages on their last receive are left out, because SQS
     * would not deliver them again.
     */
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
