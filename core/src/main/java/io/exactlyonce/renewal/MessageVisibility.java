package io.exactlyonce.renewal;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.QueueVisibility.Answers;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.renewal.RenewalEvent.Target;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a message invisible while it is handled: its visibility timeout is renewed from the receive until {@link
 * #stop()}. Also starts and stops the renewal of the claim's lease. While a handler runs beyond its {@link
 * HandlerDeadline}, nothing is renewed.
 *
 * <p>If the visibility timeout is lost, the claim still protects the key, but another consumer may have the message. No
 * further requests for the message are then sent to SQS. A standard queue accepts old receipt handles, so a renewal
 * would change the other consumer's visibility timeout.
 */
public final class MessageVisibility extends Renewable {

    private static final Logger log = LoggerFactory.getLogger(MessageVisibility.class);

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    final Subscription subscription;
    final String messageId;
    final String receiptHandle;
    private volatile @Nullable Lease lease;
    private volatile CompletableFuture<Void> inProgress = DONE;
    private volatile @Nullable HandlerDeadline deadline;

    MessageVisibility(
            Renewer renewer,
            Subscription subscription,
            VisibilityWindow length,
            String messageId,
            String receiptHandle,
            long receivedAt) {
        super(renewer, length.length(), receivedAt, receivedAt);
        this.subscription = subscription;
        this.messageId = messageId;
        this.receiptHandle = receiptHandle;
    }

    /**
     * Starts to renew the lease of the delivery's claim.
     *
     * @param askedAt when the claim was requested, by the monotonic clock
     * @param holder stops the handler if the lease is lost; must not block
     */
    public void renewLease(ClaimId claim, Duration length, long askedAt, Runnable holder) {
        lease = renewer.renewLease(new Lease(renewer, this, claim, length, askedAt, holder));
    }

    /**
     * Called when the handler starts. If it still runs at the listener's timeout, it is interrupted, and renewals stop.
     * A handler that ignores the interrupt keeps its claim until the lease expires.
     *
     * @param key the claimed key
     * @param running interrupts the handler; must not block
     */
    public synchronized void startTimeout(ClaimKey key, Runnable running) {
        Duration timeout = subscription.timeout();
        cancelTimeout();
        // If a stopping listener has already ended the renewal of this delivery, the handler gets no timeout.
        if (timeout != null && renewer.visibilities.contains(this)) {
            HandlerDeadline started = new HandlerDeadline(this, key, timeout, running);
            renewer.deadlines.add(started);
            deadline = started;
        }
    }

    /** Returns whether the handler has run for longer than its timeout, even if it is not interrupted yet. */
    public boolean isPastTimeout() {
        HandlerDeadline running = deadline;
        return running != null && running.isPast();
    }

    @Override
    boolean isKept() {
        HandlerDeadline running = deadline;
        return renewer.schedule.enabled() && (running == null || !running.isExpired());
    }

    /** Called when the handler has ended. If its timeout has stopped the renewals, they start again. */
    public synchronized void cancelTimeout() {
        HandlerDeadline running = deadline;
        if (running != null) {
            running.cancel();
            renewer.deadlines.remove(running);
            deadline = null;
        }
    }

    /** Called when the handler has ended, and the completion of its claim starts. */
    public void completing() {
        cancelTimeout();
        Lease held = lease;
        if (held != null) {
            held.completing();
        }
    }

    /** Stops renewal of the lease, because the claim has been completed, released, parked or lost. */
    public void stopLeaseRenewal() {
        cancelTimeout();
        Lease held = lease;
        if (held != null) {
            held.stopRenewal();
            lease = null;
        }
    }

    /** Returns whether there is a lease that is still valid, as far as this JVM knows. */
    public boolean isHeld() {
        Lease held = lease;
        return held != null && held.isHeld();
    }

    /** Returns whether the message is still hidden from other consumers, as far as this JVM knows. */
    public boolean isInvisible() {
        return isOn();
    }

    /**
     * Called when the delete of the message starts. Renewals continue until the queue confirms the delete. SQS may
     * reject a renewal of a deleted message. This is not reported as a loss.
     *
     * @return a future that completes when the renewal in progress has ended; already completed if none is in progress
     */
    public synchronized CompletableFuture<Void> deleting() {
        ending = true;
        return inProgress;
    }

    /** An expired visibility timeout must not be renewed, because another consumer may have the message. */
    @Override
    boolean isOverForGood(long now) {
        return isOver(now) || super.isOverForGood(now);
    }

    /**
     * Does not renew an expired visibility timeout. The check for due renewals calls {@code expire} before this method,
     * but the handler may choose a shorter time between the two calls.
     */
    @Override
    synchronized boolean attempt(long now) {
        boolean begins = !isOver(now) && super.attempt(now);
        if (begins) {
            inProgress = new CompletableFuture<>();
        }
        return begins;
    }

    @Override
    void answered(Result answer, long askedAt) {
        // The future is read before {@code super.answered}. After that call, the next renewal may start and replace the
        // future.
        CompletableFuture<Void> answered = inProgress;
        super.answered(answer, askedAt);
        answered.complete(null);
    }

    @Override
    void report(Result result) {
        switch (result) {
            case SUCCEEDED -> log.trace("Renewed the visibility timeout of {}", this);
            case FAILED -> log.warn("Renewing the visibility timeout of {} failed and will be retried", this);
            case LOST ->
                log.warn(
                        "The visibility timeout of {} is lost: the message may be redelivered; its claim protects it",
                        this);
        }
        renewer.events.accept(new RenewalEvent.Renewed(subscription, Target.WINDOW, result));
    }

    /**
     * Lets the handler change the visibility timeout of its message:
     * <ul>
     *   <li>A longer time than the listener's visibility timeout stays in force. Renewals do not shorten it. The
     *       listener does not shorten it either when it returns the message to SQS.
     *   <li>A shorter time lasts until the next renewal.
     *   <li>Zero makes the message visible at once, and ends renewals.
     * </ul>
     *
     * <p>If a renewal is in progress, the change is sent after it. Otherwise the renewal could overwrite the change.
     *
     * @param wanted the new visibility timeout, from now on
     * @param request sends the change
     * @return the outcome of the request; fails with {@link IllegalStateException} if the visibility timeout is over or
     *     lost
     */
    public CompletableFuture<Void> choose(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        CompletableFuture<Void> chosen = new CompletableFuture<>();
        long askedAt = renewer.now();
        synchronized (this) {
            if (!inProgress.isDone()) {
                return inProgress.thenCompose(answered -> choose(wanted, request));
            }
            if (isOver(askedAt) || !take(askedAt)) {
                return CompletableFuture.failedFuture(
                        new IllegalStateException(("The visibility of %s cannot be changed: its visibility timeout has "
                                        + "expired, and another consumer may own it")
                                .formatted(this)));
            }
            inProgress = chosen;
        }
        return DONE.thenCompose(ready -> request.get()).whenComplete((changed, failure) -> {
            chosen(askedAt, failure == null ? wanted : null);
            chosen.complete(null);
        });
    }

    /** Stops all renewals. A renewal may still be in progress when this method returns. */
    public synchronized void stop() {
        stopLeaseRenewal();
        renewer.visibilities.remove(this);
        end();
    }

    /**
     * Stops all renewals.
     *
     * @return a future that completes when the renewal in progress has ended; already completed if none is in progress
     */
    private synchronized CompletableFuture<Void> ended() {
        stop();
        return inProgress;
    }

    /**
     * Returns messages of one subscription to SQS: each becomes visible after its delay. The messages share requests.
     * If a renewal of a message is in progress, the message is returned later, in its own request. Otherwise the
     * renewal could hide the message again.
     *
     * <p>A message is not returned if its visibility timeout is over or lost, or if its handler chose a visibility
     * timeout that ends after the delay.
     *
     * @param delays the delay of each message, which is rounded up to whole seconds, and shortened to SQS's limit of 12
     *     h after the receive
     */
    public static void returnAll(Subscription subscription, Map<MessageVisibility, Duration> delays) {
        Map<MessageVisibility, Change> ready = new LinkedHashMap<>(delays.size());
        delays.forEach((visibility, delay) -> {
            boolean ours = visibility.isInvisible();
            CompletableFuture<Void> ended = visibility.ended();
            if (ours && ended.isDone()) {
                ready.putAll(visibility.exposure(delay));
            } else if (ours) {
                Boundary.detach(
                        "Returning a message", ended.thenRun(() -> expose(subscription, visibility.exposure(delay))));
            }
        });
        expose(subscription, ready);
    }

    private Map<MessageVisibility, Change> exposure(Duration delay) {
        long now = renewer.now();
        long seconds = Math.min(delay.plusNanos(999_999_999).toSeconds(), secondsLeft(now));
        return isOver(now) || isChosenBeyond(now + delay.toNanos())
                ? Map.of()
                : Map.of(this, new Change(receiptHandle, (int) seconds));
    }

    private static void expose(Subscription subscription, Map<MessageVisibility, Change> changes) {
        if (changes.isEmpty()) {
            return;
        }
        Boundary.detach(
                "Returning messages",
                subscription
                        .visibility()
                        .change(List.copyOf(changes.values()))
                        .thenAccept(answers -> returned(subscription, changes.keySet(), answers)));
    }

    private static void returned(Subscription subscription, Set<MessageVisibility> visibilities, Answers answers) {
        if (answers.failure() != null) {
            log.warn(
                    "Returning messages of {} failed; they become visible when their visibility timeouts end",
                    subscription,
                    PrintableException.of(answers.failure()));
        }
        visibilities.forEach(visibility -> visibility.returned(answers));
    }

    private void returned(Answers answers) {
        QueueVisibility.Result answer = answers.of(receiptHandle);
        if (answer != QueueVisibility.Result.CHANGED) {
            log.warn(
                    "Returning {} was answered with {}; it becomes visible when its visibility timeout ends",
                    this,
                    answer);
        }
    }

    /** Names the message, for logs. */
    @Override
    public String toString() {
        return "message %s of %s".formatted(messageId, subscription);
    }
}
