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
 * The visibility timeout of one delivery, renewed from the receive until {@link #stop()}. With it, the lease of the
 * delivery's claim is renewed. Neither is renewed beyond the {@link HandlerDeadline} of a running handler.
 *
 * <p>Losing the visibility timeout is harmless, because the claim still protects the key. After it has expired, another
 * consumer may have the message. On a standard queue our old receipt handle would still act on the message, so the
 * queue is no longer called.
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
     * Starts renewing a claim's lease, too.
     *
     * @param askedAt when the claim was requested, by the monotonic clock
     * @param holder is stopped if the lease is lost; must not block
     */
    public void renewLease(ClaimId claim, Duration length, long askedAt, Runnable holder) {
        lease = renewer.renewLease(new Lease(renewer, this, claim, length, askedAt, holder));
    }

    /**
     * Called when the handler starts. If the handler still runs at its listener's timeout, it is interrupted, and
     * renewals stop. A handler that continues keeps its claim until the lease expires.
     *
     * @param key the claimed key
     * @param running is stopped at the timeout; must not block
     */
    public synchronized void startTimeout(ClaimKey key, Runnable running) {
        Duration timeout = subscription.timeout();
        cancelTimeout();
        // The listener may have stopped first.
        if (timeout != null && renewer.visibilities.contains(this)) {
            HandlerDeadline started = new HandlerDeadline(this, key, timeout, running);
            renewer.deadlines.add(started);
            deadline = started;
        }
    }

    /** Returns whether the handler's timeout has expired, even before it is interrupted. */
    public boolean isPastTimeout() {
        HandlerDeadline running = deadline;
        return running != null && running.isPast();
    }

    @Override
    boolean isKept() {
        HandlerDeadline running = deadline;
        return renewer.schedule.enabled() && (running == null || !running.isExpired());
    }

    /** Called when the handler ended. Later steps are renewed again, even if the handler ended too late. */
    public synchronized void cancelTimeout() {
        HandlerDeadline running = deadline;
        if (running != null) {
            running.cancel();
            renewer.deadlines.remove(running);
            deadline = null;
        }
    }

    /** Called when the handler ended, and the completion of its claim starts. */
    public void completing() {
        cancelTimeout();
        Lease held = lease;
        if (held != null) {
            held.completing();
        }
    }

    /** Stops renewal of the lease: the claim has been completed, released or lost. */
    public void stopLeaseRenewal() {
        cancelTimeout();
        Lease held = lease;
        if (held != null) {
            held.stopRenewal();
            lease = null;
        }
    }

    /** Returns whether the lease that the store last granted is still valid by this JVM's monotonic clock. */
    public boolean isHeld() {
        Lease held = lease;
        return held != null && held.isHeld();
    }

    /**
     * Returns whether the message is still invisible to other consumers on our behalf, by this JVM's monotonic clock.
     */
    public boolean isInvisible() {
        return isOn();
    }

    /**
     * Called when the delete of the message starts. The visibility timeout is renewed until the queue confirms the
     * delete. A rejected renewal is not a loss, because it may have come after the delete.
     *
     * @return completes when all renewals that started before this call have ended
     */
    public synchronized CompletableFuture<Void> deleting() {
        ending = true;
        return inProgress;
    }

    /** Returns true once this has expired, because another consumer may have the message. */
    @Override
    boolean isOverForGood(long now) {
        return isOver(now) || super.isOverForGood(now);
    }

    /**
     * Never renews an expired visibility timeout. The visibility timeout may expire even after this tick has called
     * {@link #expire}, if the handler's choice of a shorter length was confirmed late.
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
        // Read before {@code super.answered} permits the next attempt, which replaces this future.
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
     * Lets the handler change the message's visibility itself. Neither a renewal nor a return shortens a visibility
     * that is longer than ours. A shorter visibility lasts until the next renewal, and zero ends the visibility
     * timeout. The change waits for a renewal in progress, which would overwrite it.
     *
     * @param wanted the visibility, from now on
     * @param request sends the change
     * @return the request's outcome; fails with {@link IllegalStateException} once the visibility timeout is over
     *     or lost
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

    /** Stops all renewals. Does not wait for a renewal in progress. */
    public synchronized void stop() {
        stopLeaseRenewal();
        renewer.visibilities.remove(this);
        end();
    }

    /**
     * Stops renewal, and completes when no renewal is in progress. Synchronized with {@link #attempt}, so that no
     * renewal starts unseen.
     */
    private synchronized CompletableFuture<Void> ended() {
        stop();
        return inProgress;
    }

    /**
     * Makes messages of one subscription visible after a delay, in as few requests as possible. Stops renewing them
     * first, and waits for renewals in progress, which would overwrite the new visibility. Leaves out a message whose
     * visibility timeout is over or lost, or was set to a longer one by its handler.
     *
     * @param delays rounded up to whole seconds, and at most the time until SQS's ceiling, beyond which SQS refuses
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
