package io.exactlyonce.delivery;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import io.exactlyonce.renewal.Window;
import io.exactlyonce.visibility.RepeatedLines;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One receipt of a message: how far it has come, what holds its key, and how its attempt ended. It is received, perhaps
 * handled, then settled once: acknowledged, returned or abandoned; {@link DeliveryState} has the steps.
 *
 * <p>Endings have three verbs:
 *
 * <table>
 * <caption>Who ends what</caption>
 * <tr><th>stop</th><td>asks: {@link #holdBack} and {@link #holdClaimBack} before the handler, {@link #stopHandler} while it runs,
 *     {@link #abandon} both</td></tr>
 * <tr><th>record</th><td>sets the outcome: {@link #resolve} and {@link #markFailed} that of the attempt, {@link #decide} that of
 *     the message; {@link #settle} applies it</td></tr>
 * <tr><th>end</th><td>is final: {@link #endProcessing} for the thread that processes it, {@link #end} for all</td></tr>
 * </table>
 *
 * <p>Its state and all that a listener's stop, a renewal or an acknowledgement touches is thread-safe. The rest is of the thread that
 * processes it, then of the one that records it: the store's queue, the executor and futures hand it over.
 */
public final class Delivery {

    private static final AtomicReferenceFieldUpdater<Delivery, DeliveryState> STATE =
            AtomicReferenceFieldUpdater.newUpdater(Delivery.class, DeliveryState.class, "state");

    private static final CompletableFuture<Void> PROCESSED = CompletableFuture.completedFuture(null);

    /** The message's content. */
    @FunctionalInterface
    public interface SentContent {

        /** Returns the sender's text under a name beside the payload; {@code null} if there is none. */
        @Nullable String header(String name);

        /** Drops body, payload and headers: no handler gets them any more. */
        default void forget() {}
    }

    private static final SentContent NOTHING = name -> null;

    private final Subscription subscription;
    private final String messageId;
    private final String receiptHandle;
    private final int receiveCount;
    private final long receivedAt;

    private volatile DeliveryState state = DeliveryState.RECEIVED;
    private volatile CompletableFuture<Void> processed = PROCESSED;
    private volatile @Nullable Window window;
    private volatile @Nullable Disposition disposition;
    private volatile @Nullable Cancellation call;
    private volatile boolean heldBack;
    private volatile boolean stopRequested;
    private volatile boolean abandoned;
    private volatile boolean outlivesStop;
    private volatile @Nullable String failure;
    private @Nullable CompletableFuture<Void> ended;

    private SentContent sent = NOTHING;
    private Runnable delete = () -> {
        throw new IllegalStateException("Message %s has no delete action".formatted(messageId()));
    };
    private String group = "";
    private @Nullable ClaimSpec spec;
    private boolean keepsResult;
    private boolean begun;
    private @Nullable ClaimRequest request;
    private @Nullable HeldClaim claim;
    private @Nullable ClaimResolution resolution;

    /**
     * @param subscription the listener and its queue, as they were when the message was asked for
     * @param messageId the id that SQS gave to the message
     * @param receiptHandle names this receipt
     * @param receiveCount how often SQS has delivered the message, from 1
     * @param receivedAt when it was received, by the monotonic clock
     */
    public Delivery(
            Subscription subscription, String messageId, String receiptHandle, int receiveCount, long receivedAt) {
        this.subscription = subscription;
        this.messageId = messageId;
        this.receiptHandle = receiptHandle;
        this.receiveCount = receiveCount;
        this.receivedAt = receivedAt;
    }

    /** Returns the listener and its queue. */
    public Subscription subscription() {
        return subscription;
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

    public void carries(SentContent content) {
        sent = content;
    }

    /**
     * Drops the content, which a sender may make as long as a queue takes, and a converter many times longer. Ids, receipt handle
     * and key stay.
     */
    public void forgetContent() {
        sent.forget();
        sent = NOTHING;
        if (spec != null) {
            spec = spec.withoutContent();
        }
    }

    /** Returns the sender's metadata of a name; {@code null} if there is none, or the content is not known. */
    public @Nullable String sent(String name) {
        return sent.header(name);
    }

    /** Sets how the message is deleted after its pipeline has ended; the queue answers later. */
    public void deleteBy(Runnable delete) {
        this.delete = delete;
    }

    public void delete() {
        delete.run();
    }

    /**
     * Sets its listener's claim.
     *
     * @param wanted {@code null} if the message has no usable key: it is returned with backoff
     * @param group the message's group on a FIFO queue if it comes in a batch, else empty
     * @param keepsResult whether the handler's result is stored: there is no result of one message of a batch
     */
    public void specify(@Nullable ClaimSpec wanted, String group, boolean keepsResult) {
        this.spec = wanted;
        this.group = group;
        this.keepsResult = keepsResult;
    }

    public String group() {
        return group;
    }

    /** Returns its listener's claim. Only if its message has a usable key. */
    public ClaimSpec spec() {
        return Objects.requireNonNull(spec);
    }

    /** Returns whether its key is claimed in a transaction of the application's, together with the handler's effects. */
    public boolean isTransactional() {
        return spec != null && spec.transaction() != null;
    }

    public boolean keepsResult() {
        return keepsResult;
    }

    public void renewBy(Window renewed) {
        window = renewed;
    }

    public boolean isRenewed() {
        return window != null;
    }

    /** Returns its visibility timeout and lease. */
    public Window window() {
        Window renewed = window;
        if (renewed == null) {
            throw new IllegalStateException("Delivery of message %s has not started".formatted(messageId));
        }
        return renewed;
    }

    public DeliveryState state() {
        return state;
    }

    /**
     * Takes a step.
     *
     * @return whether it was taken: another thread may have taken another one before
     * @throws IllegalArgumentException if there is no such step
     */
    public boolean transition(DeliveryState from, DeliveryState to) {
        if (!from.mayBecome(to)) {
            throw new IllegalArgumentException("A delivery cannot change from %s to %s".formatted(from, to));
        }
        return STATE.compareAndSet(this, from, to);
    }

    /** Begins to be processed, unless its listener has stopped; returns whether it has begun, now or before. */
    public boolean beginProcessing() {
        if (!begun) {
            // Before the step: a stopping listener must not treat this delivery as unprocessed.
            processed = new CompletableFuture<>();
            begun = transition(DeliveryState.RECEIVED, DeliveryState.CLAIMING);
            if (!begun) {
                endProcessing();
            }
        }
        return begun;
    }

    /** Ends the processing: the outcome is recorded, if that was possible. */
    public void endProcessing() {
        processed.complete(null);
    }

    /** Completes when no thread processes this delivery: at once if none has begun to. */
    public CompletableFuture<Void> processed() {
        return processed;
    }

    /** Returns whether its key is to be claimed once it has begun: it has one, and it was not asked for. */
    public boolean isToBeClaimed() {
        return spec != null && request == null;
    }

    /** Requests its key with these settings. */
    public ClaimRequest makeRequest(ClaimSettings terms) {
        request = terms.request(spec(), subscription.window());
        return request;
    }

    public ClaimRequest request() {
        return Objects.requireNonNull(request);
    }

    public ClaimId id() {
        return request().id();
    }

    /**
     * Its key is held for it, and renewed from now on.
     *
     * @param askedAt when the claim was asked for, by the monotonic clock
     * @param fence ties the caller's own transaction to the claim
     * @return whether it still waits for the claim: otherwise that is to be released
     */
    public boolean acquired(Acquired acquired, long askedAt, Predicate<ClaimId> fence) {
        Window renewed = window();
        claim = new HeldClaim(id(), acquired, renewed::isHeld, () -> fence.test(id()));
        renewed.renewLease(id(), request().lease(), askedAt, this::stopHandler);
        return transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
    }

    /** Its key is held by a transaction that has not ended yet, and no lease is to be renewed. */
    public void acquiredWithin(HeldClaim held) {
        claim = held;
    }

    /** Sets what to do with this delivery, which does not hold its key. */
    public void decide(Disposition decided) {
        disposition = decided;
        if (decided instanceof Disposition.Acknowledge) {
            transition(DeliveryState.CLAIMING, DeliveryState.RECORDED);
        }
    }

    public @Nullable Disposition disposition() {
        return disposition;
    }

    public boolean isAcquired() {
        return claim != null;
    }

    /** Returns the claim on its key. Only while it holds one. */
    public HeldClaim claim() {
        return Objects.requireNonNull(claim);
    }

    /** Returns whether nothing has stopped its handler, and no other consumer can have its message. */
    public boolean mayStillBeHandled() {
        return mayHandlerBegin() && window().isInvisible();
    }

    /** Returns whether the handler may begin, if nothing has stopped it. */
    public boolean mayHandlerBegin() {
        return !stopRequested && !heldBack;
    }

    /**
     * Returns whether the handler may be called now: nothing has stopped it, its time is not up, and its claim is held by
     * this JVM's clock. Asked right before the call, and again after whatever may have taken long.
     */
    public boolean isReady() {
        return claim != null && mayHandlerBegin() && window().isHeld() && !window().isPastTimeout();
    }

    /**
     * Begins to be handled, unless its listener's stop was faster.
     *
     * @return whether its reconciler or its handler may be called
     */
    public boolean beginHandling() {
        return transition(DeliveryState.CLAIMED, DeliveryState.HANDLING) || state == DeliveryState.HANDLING;
    }

    /** Enters a call, which other deliveries of its batch may share: whatever stops one of them stops it. */
    public void beginCall(Cancellation begun) {
        call = begun;
        // A stop that came first reaches what begins later.
        if (stopRequested) {
            begun.stop();
        }
    }

    /** Returns whether its handler has begun and not ended, nothing has stopped it, and its claim is held by this JVM's clock. */
    public boolean mayWork() {
        return state == DeliveryState.HANDLING && !stopRequested && (isTransactional() || window().isHeld());
    }

    /** Returns whether its effect has happened, recorded or not. */
    public boolean isCompleted() {
        return state == DeliveryState.HANDLED || isAcknowledged();
    }

    /** Returns the latest call of its reconciler or handler. Only if there was one. */
    public Cancellation call() {
        return Objects.requireNonNull(call);
    }

    /** Returns whether its reconciler or handler was called, however that ended. */
    public boolean wasCalled() {
        return call != null;
    }

    /**
     * Its attempt has ended, and is to be recorded. An effect that has happened is recorded by a completion: from here
     * on the message is deleted or abandoned, but not returned.
     *
     * @return whether that is how it ended: its listener's stop may release its claim meanwhile
     */
    public boolean resolve(ClaimResolution ended) {
        resolution = ended;
        if (ended instanceof ClaimResolution.Completed) {
            window().completing();
            return transition(DeliveryState.HANDLING, DeliveryState.HANDLED);
        }
        window().stopLeaseRenewal();
        return markFailed();
    }

    /** Releases its claim, not in doubt, before its handler was called, unless its listener's stop does. */
    public void release(String reason) {
        claim = null;
        if (resolve(new ClaimResolution.Released(id(), reason, false))) {
            call = null;
        } else {
            resolution = null;
        }
    }

    /**
     * Marks the attempt as failed: its handler was not called, or failed, or must stop, or its transaction was rolled back.
     *
     * @return false if another thread moved the delivery on first
     */
    public boolean markFailed() {
        return transition(DeliveryState.CLAIMED, DeliveryState.FAILED)
                || transition(DeliveryState.HANDLING, DeliveryState.FAILED);
    }

    /**
     * Records the failure of its attempt. The first one counts: the handler's own failure precedes later ones. The
     * message of an application's exception may quote a payload; those of the library's own do not.
     */
    public void failed(Throwable thrown) {
        if (failure == null && spec != null) {
            Throwable own = Causes.unwrap(thrown);
            String place = claim == null
                    ? "%s, not claimed".formatted(spec.key())
                    : "attempt %d at %s".formatted(claim.attempt(), spec.key());
            String reason = own instanceof ClaimTransactionException ? ": " + own.getMessage() : "";
            failure = "%s (%s)%s".formatted(own.getClass().getName(), place, reason);
        }
    }

    /**
     * Returns the failure of its attempt, by class, attempt and key, with the reason if that is the transaction of its
     * claim; {@code null} if there is none, or no usable key.
     */
    public @Nullable String failure() {
        return failure;
    }

    /** Takes how its attempt ended, to be recorded; {@code null} if there is nothing to record. */
    public @Nullable ClaimResolution takeResolution() {
        ClaimResolution taken = resolution;
        resolution = null;
        return taken;
    }

    /** Returns whether it has been kept from its handler because its listener is stopping. */
    public boolean isHeldBack() {
        return heldBack && !wasCalled();
    }

    /**
     * Keeps this delivery from being handled unless its handler is running already: its listener is stopping.
     *
     * @return whether no thread has begun to process it, so that it can be returned at once
     */
    public boolean holdBack() {
        heldBack = true;
        return transition(DeliveryState.RECEIVED, DeliveryState.HELD_BACK) || state == DeliveryState.HELD_BACK;
    }

    /** Keeps it from its handler although its key is held for it, unless that was called; returns whether its claim is to be released. */
    public boolean holdClaimBack() {
        heldBack = true;
        return transition(DeliveryState.CLAIMED, DeliveryState.HELD_BACK);
    }

    /**
     * Interrupts the handler if it is running, cancels its future, and prevents later calls: its claim is lost, or its
     * timeout has expired.
     */
    public void stopHandler() {
        stopRequested = true;
        Cancellation running = call;
        if (running != null) {
            running.stop();
        }
    }

    /** Stops the handler, and soon the recording of its outcome: its listener has stopped. */
    public void abandon() {
        abandoned = true;
        holdBack();
        stopHandler();
    }

    public boolean isAbandoned() {
        return abandoned;
    }

    /** The stop of the listener goes on without this delivery: the handler has called it, and ends by itself. */
    public void outliveStop() {
        outlivesStop = true;
    }

    public boolean outlivesStop() {
        return outlivesStop;
    }

    /**
     * A thread that processed this delivery has crashed: its handler is stopped, and nothing is released, returned or
     * deleted.
     *
     * @return whether that settles it: it was not settled before, and its effect is not recorded
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
     * Leaves its listener's pipeline: it is deleted if its effect is recorded, abandoned if its effect may have
     * happened unrecorded, and waits or is returned otherwise.
     *
     * @return the state after that; empty if it has left before
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

    /** Returns, once it is settled, whether its key is completed, and its message to be deleted. */
    public boolean isAcknowledged() {
        return state.isAcknowledged();
    }

    /** Returns whether the queue moves the message to its dead-letter queue rather than deliver it once more. */
    public boolean isOnItsLastReceive() {
        Integer most = subscription.maxReceiveCount();
        return most != null && receiveCount >= most;
    }

    /**
     * Returns, once it is settled, whether the message will not be redelivered: it is deleted, or it failed on the last
     * receive before the dead-letter queue.
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

    /** Lets the handler change the message's visibility itself, like {@link Window#choose}. */
    public CompletableFuture<Void> chooseVisibility(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        return window().choose(wanted, request);
    }

    /**
     * Logs a line that a sender can cause with every receive of a message, unless it was logged for an earlier receive, lately.
     *
     * @param line logs it, and ends with the text that it is given: how many such lines were left out
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
