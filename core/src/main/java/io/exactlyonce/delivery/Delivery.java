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
 * <p>The methods that end a delivery do one of three things:
 * <table>
 * <caption>Who ends what</caption>
 * <tr><th>stop</th><td>keeps the handler from being called ({@link #holdBack}, {@link #holdClaimBack}), interrupts it
 * ({@link #stopHandler}), or does both ({@link #abandon})</td></tr>
 * <tr><th>record</th><td>sets the outcome of the attempt ({@link Attempt#resolve}, {@link #markFailed}) or of the
 * message ({@link #decide}). {@link #settle} applies the outcome</td></tr>
 * <tr><th>end</th><td>is final for the thread that processes the delivery ({@link #endProcessing}), or for all threads
 * ({@link #end})</td></tr>
 * </table>
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
        // Comes first. Otherwise a stopping listener could see the new state and conclude that no thread processes this
        // delivery.
        processed = new CompletableFuture<>();
        boolean started = transition(DeliveryState.RECEIVED, DeliveryState.CLAIMING);
        if (!started) {
            endProcessing();
        }
        return started;
    }

    /** Ends the processing, after the outcome was recorded or could not be recorded. */
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

    /** Returns false if a stop forbids the call of the handler. */
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
        // An earlier stop found no call to stop, so this call is stopped now.
        if (stopRequested) {
            started.stop();
        }
    }

    /** Returns whether the effect has happened, even if the store does not know yet. */
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
     * Marks the attempt as failed. The handler was not called, threw, or was stopped, or its transaction was rolled
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
     * Prevents the call of a handler whose key is already claimed, because the listener stops.
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
     * Stops the handler, because the listener's stop does not wait for it any longer. The outcome is still sent to the
     * store, but a failed request is repeated a few times at most.
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
     * Lets the listener's stop continue without this delivery, because its own handler called the stop. Otherwise the
     * two would wait for each other. The handler ends by itself.
     */
    public void outliveStop() {
        outlivesStop = true;
    }

    public boolean outlivesStop() {
        return outlivesStop;
    }

    /**
     * Abandons the delivery after its thread crashed. Stops the handler, but does not release the claim, and neither
     * returns nor deletes the message.
     *
     * @return true if this call settled the delivery; false if it was settled before, or if its effect is recorded
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
     * Returns whether SQS will not deliver the message again. True if the message is deleted, or if its last receive
     * failed. Call this only when the outcome is decided. Before that, a delivery on its last receive counts as failed.
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
     * Ends the delivery for all threads.
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

    /** Changes the message's visibility timeout for the handler ({@link MessageVisibility#choose}). */
    public CompletableFuture<Void> chooseVisibility(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        return visibility().choose(wanted, request);
    }

    /**
     * Logs a line, unless there were too many lines of its kind. Otherwise a sender of bad messages could fill the log.
     * {@link RepeatedLines} describes the limits.
     *
     * @param line logs the line. Its argument is to be appended, and contains the number of lines that were left out
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
