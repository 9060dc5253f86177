package io.exactlyonce.delivery;

import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.RepeatedLines;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.MessageVisibility;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One receipt of a message from SQS. A redelivered message is a new delivery. Each delivery is settled once: its
 * message is deleted, is returned (made visible again), or is abandoned (left alone until its visibility timeout
 * expires). {@link DeliveryState} lists the steps.
 *
 * <p>Thread-safe, except for its {@link Attempt}. The thread that processes the delivery uses the attempt.
 *
 * <p>Several methods sound similar:
 * <ul>
 * <li>Stop: {@link #holdBack} and {@link #holdClaimBack} keep the handler from being called. {@link #stopHandler}
 * interrupts a running handler. {@link #abandon} does both.
 * <li>Record: {@link Attempt#resolve} and {@link #markFailed} set the outcome of the attempt. {@link #decide} chooses
 * what happens to the message. {@link #settle} applies the outcome.
 * <li>End: after {@link #endProcessing}, no thread processes the delivery. After {@link #end}, no thread can change its
 * state.
 * </ul>
 */
public final class Delivery {

    private static final AtomicReferenceFieldUpdater<Delivery, DeliveryState> STATE =
            AtomicReferenceFieldUpdater.newUpdater(Delivery.class, DeliveryState.class, "state");

    private static final CompletableFuture<Void> PROCESSED = CompletableFuture.completedFuture(null);

    private final Subscription subscription;
    private final QueueSettings settings;
    private final String messageId;
    private final String receiptHandle;
    private final int receiveCount;
    private final long receivedAt;
    private final Attempt attempt = new Attempt(this);

    private volatile DeliveryState state = DeliveryState.RECEIVED;
    private volatile CompletableFuture<Void> processed = PROCESSED;
    private volatile @Nullable MessageVisibility visibility;
    private volatile @Nullable Disposition disposition;
    private volatile @Nullable Cancellation call;
    private volatile boolean heldBack;
    private volatile boolean stopRequested;
    private volatile boolean abandoned;
    private volatile boolean outlivesStop;
    private @Nullable CompletableFuture<Void> ended;

    private Runnable delete = () -> {
        throw new IllegalStateException("Message %s has no delete action".formatted(messageId()));
    };

    /**
     * @param settings the queue's settings when the message was requested
     * @param messageId the id that SQS gave to the message
     * @param receiptHandle identifies this receipt at SQS
     * @param receiveCount how often SQS has delivered the message, from 1
     * @param receivedAt when the message was received, by the monotonic clock
     */
    public Delivery(
            Subscription subscription,
            QueueSettings settings,
            String messageId,
            String receiptHandle,
            int receiveCount,
            long receivedAt) {
        this.subscription = subscription;
        this.settings = settings;
        this.messageId = messageId;
        this.receiptHandle = receiptHandle;
        this.receiveCount = receiveCount;
        this.receivedAt = receivedAt;
    }

    /** Returns the listener and its queue. */
    public Subscription subscription() {
        return subscription;
    }

    /** Returns the settings that the queue had when the message was requested. */
    public QueueSettings settings() {
        return settings;
    }

    /** Returns the id that SQS gave to the message. All deliveries of a message have the same id. */
    public String messageId() {
        return messageId;
    }

    /** Returns the receipt handle. */
    public String receiptHandle() {
        return receiptHandle;
    }

    /** Returns how often SQS has delivered the message, from 1. */
    public int receiveCount() {
        return receiveCount;
    }

    public long receivedAt() {
        return receivedAt;
    }

    /** Sets how to delete the message. The action sends the request, and does not wait for the answer of SQS. */
    public void deleteBy(Runnable delete) {
        this.delete = delete;
    }

    public void delete() {
        delete.run();
    }

    /** Returns the attempt. Only the thread that processes this delivery may use it. */
    public Attempt attempt() {
        return attempt;
    }

    /** Returns whether the handler is called without a claim, because the message has no key. */
    public boolean isUnprotected() {
        return attempt.isUnprotected();
    }

    public void renewBy(MessageVisibility renewed) {
        visibility = renewed;
    }

    public boolean isRenewed() {
        return visibility != null;
    }

    /** Returns the object that renews visibility timeout and lease. Throws if {@link #renewBy} was not called yet. */
    public MessageVisibility visibility() {
        MessageVisibility renewed = visibility;
        if (renewed == null) {
            throw new IllegalStateException("Delivery of message %s has not started".formatted(messageId));
        }
        return renewed;
    }

    public DeliveryState state() {
        return state;
    }

    /**
     * Changes the state in one compare-and-set.
     *
     * @return false if another thread has changed the state
     * @throws IllegalArgumentException if {@link DeliveryState} does not permit this step
     */
    public boolean transition(DeliveryState from, DeliveryState to) {
        if (!from.mayBecome(to)) {
            throw new IllegalArgumentException("A delivery cannot change from %s to %s".formatted(from, to));
        }
        return STATE.compareAndSet(this, from, to);
    }

    /** Starts processing. Returns false if the listener stopped first. */
    boolean beginProcessing() {
        // Set before the state changes, because a stopping listener that sees the new state waits for this future.
        processed = new CompletableFuture<>();
        boolean started = transition(DeliveryState.RECEIVED, DeliveryState.CLAIMING);
        if (!started) {
            endProcessing();
        }
        return started;
    }

    /** Ends the processing. The {@link #processed} future then completes. */
    public void endProcessing() {
        processed.complete(null);
    }

    /**
     * Returns a future that completes when no thread processes this delivery any more. If processing has not started,
     * the future is already complete.
     */
    public CompletableFuture<Void> processed() {
        return processed;
    }

    /**
     * Sets what happens to the message next. Called if the delivery has no key, did not get its key, or has released or
     * parked it.
     */
    public void decide(Disposition decided) {
        disposition = decided;
        if (decided instanceof Disposition.Acknowledge) {
            transition(DeliveryState.CLAIMING, DeliveryState.RECORDED);
        }
    }

    public @Nullable Disposition disposition() {
        return disposition;
    }

    /**
     * Returns whether the handler may still be called. False after a stop. Also false if the visibility timeout is
     * over, because another consumer may then have the message.
     */
    public boolean mayStillBeHandled() {
        return mayHandlerBegin() && visibility().isInvisible();
    }

    /** Returns whether the handler may be called. False after a stop. */
    public boolean mayHandlerBegin() {
        return !stopRequested && !heldBack;
    }

    /**
     * Marks that the reconciler or the handler is about to be called.
     *
     * @return false if the listener stopped first. Neither may then be called
     */
    public boolean beginHandling() {
        return transition(DeliveryState.CLAIMED, DeliveryState.HANDLING) || state == DeliveryState.HANDLING;
    }

    /**
     * Registers a call of the reconciler or the handler, so that {@link #stopHandler} can stop it. If a batch shares
     * the call, the stop of one delivery stops the call for all.
     */
    public void beginCall(Cancellation started) {
        call = started;
        // The stop came before this call was registered.
        if (stopRequested) {
            started.stop();
        }
    }

    /** Returns whether the handler's effect has happened, even if the claim store has not recorded it yet. */
    public boolean isCompleted() {
        return state == DeliveryState.HANDLED || isAcknowledged();
    }

    /** Forgets a call that had no effect. */
    void forgetCall() {
        call = null;
    }

    /** Returns whether the handler or the reconciler is running and was not stopped. */
    boolean isHandling() {
        return state == DeliveryState.HANDLING && !stopRequested;
    }

    /** Returns the latest call of the reconciler or the handler. Throws if {@link #wasCalled} is false. */
    public Cancellation call() {
        return Objects.requireNonNull(call);
    }

    /** Returns whether the reconciler or the handler was called, with or without success. */
    public boolean wasCalled() {
        return call != null;
    }

    /**
     * Marks the attempt as failed: the handler threw, was stopped or was not called, or its transaction was rolled
     * back.
     *
     * @return false if another thread changed the state first
     */
    public boolean markFailed() {
        return transition(DeliveryState.CLAIMED, DeliveryState.FAILED)
                || transition(DeliveryState.HANDLING, DeliveryState.FAILED);
    }

    /** Returns whether the listener's stop prevented the call of the handler. */
    public boolean isHeldBack() {
        return heldBack && !wasCalled();
    }

    /**
     * Prevents the call of the handler, because the listener stops. A handler that already runs continues.
     *
     * @return true if no thread has started to process the delivery. The caller can then return the message at once
     */
    public boolean holdBack() {
        heldBack = true;
        return transition(DeliveryState.RECEIVED, DeliveryState.HELD_BACK) || state == DeliveryState.HELD_BACK;
    }

    /**
     * Called by a listener's stop for a delivery that has claimed its key. Prevents the call of the handler, if the
     * handler was not called yet.
     *
     * @return true if the caller must release the claim; false if the handler was called first, or if there is no claim
     */
    public boolean holdClaimBack() {
        heldBack = true;
        return transition(DeliveryState.CLAIMED, DeliveryState.HELD_BACK);
    }

    /**
     * Stops the handler, because the claim is lost or the timeout has expired. Interrupts the handler, cancels its
     * future, and prevents later calls.
     */
    public void stopHandler() {
        stopRequested = true;
        Cancellation running = call;
        if (running != null) {
            running.stop();
        }
    }

    /**
     * Stops the handler, because the listener's stop takes too long. The outcome is still sent to the store, but a
     * failed request is repeated only a few times.
     */
    public void abandon() {
        abandoned = true;
        holdBack();
        stopHandler();
    }

    public boolean isAbandoned() {
        return abandoned;
    }

    /**
     * Excludes this delivery from the listener's stop, because its own handler called the stop. The stop must not wait
     * for a handler that itself waits for the stop.
     */
    public void outliveStop() {
        outlivesStop = true;
    }

    public boolean outlivesStop() {
        return outlivesStop;
    }

    /**
     * Abandons the delivery after its thread crashed. Stops the handler, but does not release the claim. The message is
     * not returned and not deleted.
     *
     * @return true if this call abandoned the delivery. False if the delivery was settled before, or if its message is
     *     to be deleted
     */
    public boolean crash() {
        abandon();
        DeliveryState now = state;
        while (now.mayBecome(DeliveryState.ABANDONED) && !transition(now, DeliveryState.ABANDONED)) {
            now = state;
        }
        endProcessing();
        return !now.isSettled() && state == DeliveryState.ABANDONED;
    }

    /**
     * Settles the delivery at the end of the pipeline:
     * <ul>
     * <li>If the effect is recorded, the message is deleted.
     * <li>If the effect may have happened but is not recorded, the delivery is abandoned.
     * <li>Otherwise, the delivery waits for the owner of its key, or its message is returned.
     * </ul>
     *
     * @return the new state; empty if the delivery was settled before
     */
    public Optional<DeliveryState> settle() {
        for (DeliveryState now = state; !now.isSettled(); now = state) {
            DeliveryState next = settled(now);
            if (transition(now, next)) {
                return Optional.of(next);
            }
        }
        return Optional.empty();
    }

    private DeliveryState settled(DeliveryState now) {
        return switch (now) {
            case RECORDED -> DeliveryState.DELETING;
            case HANDLING, HANDLED -> DeliveryState.ABANDONED;
            case CLAIMING -> disposition instanceof Disposition.Wait ? DeliveryState.WAITING : DeliveryState.RETURNED;
            default -> DeliveryState.RETURNED;
        };
    }

    /** Returns whether the message is deleted or to be deleted. */
    public boolean isAcknowledged() {
        return state.isAcknowledged();
    }

    /**
     * Returns whether this is the message's last receive. If it fails, SQS moves the message to its dead-letter queue.
     */
    public boolean isOnItsLastReceive() {
        return settings.isLastReceive(receiveCount);
    }

    /**
     * Returns whether SQS will not deliver the message again, because it is deleted, or because its last receive
     * failed. Call this only after the outcome is decided. Until then, every message on its last receive counts as
     * failed.
     */
    public boolean leavesItsQueue() {
        DeliveryState now = state;
        boolean isLeft = now == DeliveryState.HANDLED || now == DeliveryState.ABANDONED;
        return now.isAcknowledged() || (!isLeft && !(disposition instanceof Disposition.Wait) && isOnItsLastReceive());
    }

    /** Returns a future that completes when the delivery has ended. */
    public synchronized CompletableFuture<Void> ended() {
        ended = ended == null ? new CompletableFuture<>() : ended;
        return ended;
    }

    /**
     * Ends the delivery. Afterwards, no thread can change its state.
     *
     * @return true if the key is claimed and the handler was not called. The caller must then release the claim
     */
    public boolean end() {
        DeliveryState now = state;
        while (!now.isFinal()
                && !transition(now, now.isAcknowledged() ? DeliveryState.GONE : DeliveryState.ABANDONED)) {
            now = state;
        }
        ended().complete(null);
        return now == DeliveryState.CLAIMED;
    }

    /** Sets the visibility timeout that the handler has chosen ({@link MessageVisibility#choose}). */
    public CompletableFuture<Void> chooseVisibility(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        return visibility().choose(wanted, request);
    }

    /**
     * Logs a line. Does not log it if there were too many lines of its kind ({@link RepeatedLines}), because a sender
     * of bad messages could otherwise fill the log.
     *
     * @param line logs the line. Its argument says how many lines were left out, and belongs at the end of the line
     */
    public void logLimited(RepeatedLines.Kind kind, Consumer<String> line) {
        String end = subscription.levels().lines().next(kind, receiveCount <= 1, receivedAt);
        if (end != null) {
            line.accept(end);
        }
    }

    /** Contains no payload, which must not be logged. */
    @Override
    public String toString() {
        return "message %s (receive %d) of %s".formatted(messageId, receiveCount, subscription);
    }
}
