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
 * One receipt of a message. After the receive, the delivery may be handled, and is settled once: its message is
 * acknowledged, returned or abandoned. {@link DeliveryState} lists the steps. Any thread may use a delivery, but its
 * {@link Attempt} belongs to the thread that processes the delivery.
 *
 * <p>The methods that end a delivery do one of three things:
 * <table>
 * <caption>Who ends what</caption>
 * <tr><th>stop</th><td>requests an end: {@link #holdBack} and {@link #holdClaimBack} before the handler is called,
 * {@link #stopHandler} while the handler runs, {@link #abandon} in both cases</td></tr>
 * <tr><th>record</th><td>sets an outcome: {@link Attempt#resolve} and {@link #markFailed} for the attempt, {@link
 * #decide} for the message. {@link #settle} applies the outcome</td></tr>
 * <tr><th>end</th><td>is final: {@link #endProcessing} for the thread that processes the delivery, {@link #end} for all
 * threads</td></tr>
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
     * @param subscription the listener and its queue
     * @param settings the queue's settings at the time when the message was requested
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

    /** Returns the queue's settings at the time when the message was requested. */
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

    /** Sets the action that requests the delete of the message. The action does not wait for the queue's answer. */
    public void deleteBy(Runnable delete) {
        this.delete = delete;
    }

    public void delete() {
        delete.run();
    }

    /** Returns the attempt, which belongs to the thread that processes this delivery. */
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

    /** Returns the visibility timeout and the lease. Throws before {@link #renewBy}. */
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
     * Changes the state.
     *
     * @return false if another thread changed the state first
     * @throws IllegalArgumentException if {@link DeliveryState} has no such step
     */
    public boolean transition(DeliveryState from, DeliveryState to) {
        if (!from.mayBecome(to)) {
            throw new IllegalArgumentException("A delivery cannot change from %s to %s".formatted(from, to));
        }
        return STATE.compareAndSet(this, from, to);
    }

    /** Starts processing. Returns false if the listener stopped first. */
    boolean beginProcessing() {
        // Set before the state changes, so that a stopping listener does not treat this delivery as unprocessed.
        processed = new CompletableFuture<>();
        boolean started = transition(DeliveryState.RECEIVED, DeliveryState.CLAIMING);
        if (!started) {
            endProcessing();
        }
        return started;
    }

    /** Ends the processing. By now, the outcome is recorded, or could not be recorded. */
    public void endProcessing() {
        processed.complete(null);
    }

    /**
     * Returns a future that completes when no thread processes this delivery. The future is already complete if
     * processing has not started.
     */
    public CompletableFuture<Void> processed() {
        return processed;
    }

    /** Decides what to do with this delivery. Called if the delivery holds no key, or holds its key no longer. */
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
     * Returns whether the handler may still be called. False if a stop prevents the call, or if another consumer may
     * have the message because its visibility timeout is over.
     */
    public boolean mayStillBeHandled() {
        return mayHandlerBegin() && visibility().isInvisible();
    }

    /** Returns whether no stop prevents the call of the handler. */
    public boolean mayHandlerBegin() {
        return !stopRequested && !heldBack;
    }

    /**
     * Starts handling.
     *
     * @return whether the reconciler or the handler may be called; false if the listener stopped first
     */
    public boolean beginHandling() {
        return transition(DeliveryState.CLAIMED, DeliveryState.HANDLING) || state == DeliveryState.HANDLING;
    }

    /**
     * Begins a call of the reconciler or the handler. If a batch shares the call, the stop of one of its deliveries
     * stops the call for all.
     */
    public void beginCall(Cancellation started) {
        call = started;
        // A stop that came first found no call to stop, so this call is stopped now.
        if (stopRequested) {
            started.stop();
        }
    }

    /** Returns whether the effect happened, even if it is not recorded yet. */
    public boolean isCompleted() {
        return state == DeliveryState.HANDLED || isAcknowledged();
    }

    /** Forgets a call that had no effect. */
    void forgetCall() {
        call = null;
    }

    /** Returns whether the handler or the reconciler runs, and was not stopped. */
    boolean isHandling() {
        return state == DeliveryState.HANDLING && !stopRequested;
    }

    /** Returns the latest call of the reconciler or the handler. Call this only if {@link #wasCalled} returns true. */
    public Cancellation call() {
        return Objects.requireNonNull(call);
    }

    /** Returns whether the reconciler or the handler was called, even if the call failed. */
    public boolean wasCalled() {
        return call != null;
    }

    /**
     * Marks the attempt as failed. The handler was not called, or failed, or must stop, or its transaction was rolled
     * back.
     *
     * @return false if another thread changed the state first
     */
    public boolean markFailed() {
        return transition(DeliveryState.CLAIMED, DeliveryState.FAILED)
                || transition(DeliveryState.HANDLING, DeliveryState.FAILED);
    }

    /** Returns whether the handler is not called because the listener stops. */
    public boolean isHeldBack() {
        return heldBack && !wasCalled();
    }

    /**
     * Prevents the call of the handler, because the listener stops. Has no effect on a handler that already runs.
     *
     * @return true if no thread has started to process the delivery, so that the caller can return it at once
     */
    public boolean holdBack() {
        heldBack = true;
        return transition(DeliveryState.RECEIVED, DeliveryState.HELD_BACK) || state == DeliveryState.HELD_BACK;
    }

    /**
     * Prevents the call of the handler, because the listener stops, and takes over the claim of the delivery.
     *
     * @return true if the caller must release the claim; false if the handler was already called, or if there is no
     *     claim
     */
    public boolean holdClaimBack() {
        heldBack = true;
        return transition(DeliveryState.CLAIMED, DeliveryState.HELD_BACK);
    }

    /**
     * Stops the handler, because the claim is lost or the timeout has expired. Interrupts the handler if it is running,
     * cancels its future, and prevents later calls.
     */
    public void stopHandler() {
        stopRequested = true;
        Cancellation running = call;
        if (running != null) {
            running.stop();
        }
    }

    /**
     * Stops the handler because the listener stopped. From now on, the record of the outcome is not repeated much
     * longer.
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
     * Lets the listener's stop continue without this delivery. Called if the handler itself called the stop, because
     * the handler and the stop would wait for each other. Such a handler ends by itself.
     */
    public void outliveStop() {
        outlivesStop = true;
    }

    public boolean outlivesStop() {
        return outlivesStop;
    }

    /**
     * Abandons the delivery after a crash of its thread. Stops the handler. The claim is not released, and the message
     * is neither returned nor deleted.
     *
     * @return true if this call settles the delivery; false if the delivery was settled before, or if its effect is
     *     recorded
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
     * <li>If the effect may have happened without a record, the delivery is abandoned.
     * <li>In all other cases, the delivery waits or is returned.
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
     * Returns whether this is the message's last receive, after which SQS moves the message to its dead-letter queue.
     */
    public boolean isOnItsLastReceive() {
        return settings.isLastReceive(receiveCount);
    }

    /**
     * Returns whether the message will not be redelivered. True if the message is deleted, or failed on the last
     * receive before the dead-letter queue. Call this only when the outcome is decided, because an undecided delivery
     * on its last receive counts as failed.
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
     * Ends the delivery. No thread does anything more with it.
     *
     * @return true if the delivery held a claim whose handler was not called, so that the caller must release the claim
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

    /** Changes the message's visibility for the handler, like {@link MessageVisibility#choose}. */
    public CompletableFuture<Void> chooseVisibility(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        return visibility().choose(wanted, request);
    }

    /**
     * Logs a line that a sender can cause with every receive of a message. A line about the first receive is logged, up
     * to a limit. Of the lines about later receives, one is logged in each interval of the kind ({@link
     * RepeatedLines}).
     *
     * @param line logs the line; its argument is the end of the line, which contains the number of lines that were left
     *     out
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
