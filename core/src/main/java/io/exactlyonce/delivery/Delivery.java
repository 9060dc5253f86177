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
 * One receipt of a message: it is received, perhaps handled, and then settled once: acknowledged, returned or
 * abandoned. {@link DeliveryState} has the steps. Every thread may use a delivery; its {@link Attempt} belongs to the
 * thread that processes it.
 *
 * <p>The methods that end a delivery have three verbs:
 * <table>
 * <caption>Who ends what</caption>
 * <tr><th>stop</th><td>requests an end: {@link #holdBack} and {@link #holdClaimBack} before the handler, {@link
 * #stopHandler} while the handler runs, {@link #abandon} both</td></tr>
 * <tr><th>record</th><td>sets an outcome: {@link Attempt#resolve} and {@link #markFailed} for the attempt, {@link
 * #decide} for the message; {@link #settle} applies the outcome</td></tr>
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
     * @param settings the queue's settings when the message was requested
     * @param messageId the id that SQS gave to the message
     * @param receiptHandle names this receipt
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

    /** Returns the queue's settings when the message was requested. */
    public QueueSettings settings() {
        return settings;
    }

    /** Returns the id that SQS gave to the message: the same for all deliveries of it. */
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

    /** Sets how the message is deleted after the pipeline ended. The queue answers later. */
    public void deleteBy(Runnable delete) {
        this.delete = delete;
    }

    public void delete() {
        delete.run();
    }

    /** Returns the attempt, which belongs to the processing thread. */
    public Attempt attempt() {
        return attempt;
    }

    /** Returns whether the message has no key, and the handler is called without a claim. */
    public boolean isUnprotected() {
        return attempt.isUnprotected();
    }

    public void renewBy(MessageVisibility renewed) {
        visibility = renewed;
    }

    public boolean isRenewed() {
        return visibility != null;
    }

    /** Returns the visibility timeout and the lease. */
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
     * @return false if another thread changed it first
     * @throws IllegalArgumentException if {@link DeliveryState} has no such step
     */
    public boolean transition(DeliveryState from, DeliveryState to) {
        if (!from.mayBecome(to)) {
            throw new IllegalArgumentException("A delivery cannot change from %s to %s".formatted(from, to));
        }
        return STATE.compareAndSet(this, from, to);
    }

    /** Starts processing, unless the listener stopped first; returns whether it has started. */
    boolean beginProcessing() {
        // Set before the step, so that a stopping listener does not treat this delivery as unprocessed.
        processed = new CompletableFuture<>();
        boolean started = transition(DeliveryState.RECEIVED, DeliveryState.CLAIMING);
        if (!started) {
            endProcessing();
        }
        return started;
    }

    /** Ends the processing. If possible, the outcome is recorded by now. */
    public void endProcessing() {
        processed.complete(null);
    }

    /**
     * Returns a future that completes when no thread processes this delivery; already complete if no thread has started
     * to.
     */
    public CompletableFuture<Void> processed() {
        return processed;
    }

    /** Decides what to do with this delivery, which does not hold its key. */
    public void decide(Disposition decided) {
        disposition = decided;
        if (decided instanceof Disposition.Acknowledge) {
            transition(DeliveryState.CLAIMING, DeliveryState.RECORDED);
        }
    }

    public @Nullable Disposition disposition() {
        return disposition;
    }

    /** Returns whether the handler was not stopped, and no other consumer can have the message. */
    public boolean mayStillBeHandled() {
        return mayHandlerBegin() && visibility().isInvisible();
    }

    /** Returns whether the state permits the handler to start, unless a stop prevents it. */
    public boolean mayHandlerBegin() {
        return !stopRequested && !heldBack;
    }

    /**
     * Starts handling, unless the listener stopped first.
     *
     * @return whether the reconciler or the handler may be called
     */
    public boolean beginHandling() {
        return transition(DeliveryState.CLAIMED, DeliveryState.HANDLING) || state == DeliveryState.HANDLING;
    }

    /** Enters a call, which other deliveries of the batch may share: a stop of one delivery stops them all. */
    public void beginCall(Cancellation started) {
        call = started;
        // A stop may come first: then it also stops this call, which starts later.
        if (stopRequested) {
            started.stop();
        }
    }

    /** Returns whether the effect happened, recorded or not. */
    public boolean isCompleted() {
        return state == DeliveryState.HANDLED || isAcknowledged();
    }

    /** Forgets a call that had no effect. */
    void forgetCall() {
        call = null;
    }

    /** Returns whether the handler runs, and was not stopped. */
    boolean isHandling() {
        return state == DeliveryState.HANDLING && !stopRequested;
    }

    /** Returns the latest call of the reconciler or handler. Only if there was one. */
    public Cancellation call() {
        return Objects.requireNonNull(call);
    }

    /** Returns whether the reconciler or the handler was called, however the call ended. */
    public boolean wasCalled() {
        return call != null;
    }

    /**
     * Marks the attempt as failed: the handler was not called, or failed, or must stop, or its transaction was rolled
     * back.
     *
     * @return false if another thread changed the state first
     */
    public boolean markFailed() {
        return transition(DeliveryState.CLAIMED, DeliveryState.FAILED)
                || transition(DeliveryState.HANDLING, DeliveryState.FAILED);
    }

    /** Returns whether the handler is not called, because the listener stops. */
    public boolean isHeldBack() {
        return heldBack && !wasCalled();
    }

    /**
     * Prevents the handler call because the listener stops, unless the handler runs already.
     *
     * @return whether no thread started processing, so that the delivery can be returned at once
     */
    public boolean holdBack() {
        heldBack = true;
        return transition(DeliveryState.RECEIVED, DeliveryState.HELD_BACK) || state == DeliveryState.HELD_BACK;
    }

    /**
     * Prevents the handler call of a claimed delivery. Returns true if the caller must release the claim, and false if
     * the handler was already called.
     */
    public boolean holdClaimBack() {
        heldBack = true;
        return transition(DeliveryState.CLAIMED, DeliveryState.HELD_BACK);
    }

    /**
     * Interrupts the handler if it is running, cancels its future, and prevents later calls, because the claim is lost
     * or the timeout has expired.
     */
    public void stopHandler() {
        stopRequested = true;
        Cancellation running = call;
        if (running != null) {
            running.stop();
        }
    }

    /** Stops the handler because the listener stopped. The recording of the outcome stops soon, too. */
    public void abandon() {
        abandoned = true;
        holdBack();
        stopHandler();
    }

    public boolean isAbandoned() {
        return abandoned;
    }

    /** Lets the listener's stop continue without this delivery, whose handler called the stop and ends by itself. */
    public void outliveStop() {
        outlivesStop = true;
    }

    public boolean outlivesStop() {
        return outlivesStop;
    }

    /**
     * Abandons the delivery after a crash of its thread: stops the handler, and releases, returns and deletes nothing.
     *
     * @return whether this call settles the delivery: it was not settled before, and its effect is not recorded
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
     * Settles the delivery at the end of the pipeline. If the effect is recorded, the message is deleted. If the effect
     * may have happened without a record, the delivery is abandoned. Otherwise it waits or is returned.
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

    /** Returns whether the key is completed, and the message is to be deleted. Only after the delivery is settled. */
    public boolean isAcknowledged() {
        return state.isAcknowledged();
    }

    /** Returns whether the queue moves the message to its dead-letter queue rather than deliver it once more. */
    public boolean isOnItsLastReceive() {
        return settings.isLastReceive(receiveCount);
    }

    /**
     * Returns whether the message will not be redelivered, because it is deleted, or it failed on the last receive
     * before the dead-letter queue. Only after the delivery is settled.
     */
    public boolean leavesItsQueue() {
        DeliveryState now = state;
        boolean isLeft = now == DeliveryState.HANDLED || now == DeliveryState.ABANDONED;
        return now.isAcknowledged() || (!isLeft && !(disposition instanceof Disposition.Wait) && isOnItsLastReceive());
    }

    /** Completes when the delivery has ended. */
    public synchronized CompletableFuture<Void> ended() {
        ended = ended == null ? new CompletableFuture<>() : ended;
        return ended;
    }

    /**
     * Ends the delivery: nothing more is done with it.
     *
     * @return whether it still held a claim that never reached its handler
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

    /** Lets the handler change the message's visibility itself, like {@link MessageVisibility#choose}. */
    public CompletableFuture<Void> chooseVisibility(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        return visibility().choose(wanted, request);
    }

    /**
     * Logs a line that a sender can cause with every receive of a message, unless it was logged for an earlier receive
     * recently.
     *
     * @param line logs the line; gets the line's end, which says how many such lines were left out
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
