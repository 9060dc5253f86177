package io.exactlyonce.delivery;

import io.exactlyonce.renewal.Renewal;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One receipt of a message. It is received, perhaps handled, then settled once: acknowledged, returned or abandoned; {@link
 * DeliveryState} says in which steps.
 *
 * <p>Thread-safe: polled, handled, renewed and acknowledged by different threads.
 */
public final class Delivery {

    private final Subscription subscription;
    private final String messageId;
    private final String receiptHandle;
    private final int receiveCount;
    private final long receivedAt;
    private final AtomicReference<DeliveryState> state = new AtomicReference<>(DeliveryState.RECEIVED);
    private final CompletableFuture<Boolean> gone = new CompletableFuture<>();

    private volatile SenderHeaders sender = name -> null;
    private volatile @Nullable Renewal renewal;
    private volatile @Nullable Disposition disposition;
    private volatile CompletableFuture<Void> left = CompletableFuture.completedFuture(null);
    private volatile boolean heldBack;
    private volatile Supplier<CompletableFuture<?>> giveUp = () -> CompletableFuture.completedFuture(null);
    private volatile boolean abandoned;
    private volatile @Nullable HandlerRun run;
    private volatile boolean stopRequested;
    private volatile Runnable delete = () -> {
        throw new IllegalStateException("It was not said how to delete message %s".formatted(messageId()));
    };

    /** What a message's sender said beside the payload: what continues its trace, for example. */
    @FunctionalInterface
    public interface SenderHeaders {

        /** Returns the text under a name; {@code null} if there is none. */
        @Nullable String get(String name);
    }

    /**
     * @param subscription the listener and its queue
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

    /** Returns what names this receipt towards SQS. */
    public String receiptHandle() {
        return receiptHandle;
    }

    /**
     * Lets the handler change the message's visibility itself, as {@link Renewal#choose} says.
     *
     * @param wanted the visibility, from now on
     * @param request sends the change
     */
    public CompletableFuture<Void> chooseVisibility(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        return renewal().choose(wanted, request);
    }

    /** Returns how often SQS has delivered the message, from 1. */
    public int receiveCount() {
        return receiveCount;
    }

    public long receivedAt() {
        return receivedAt;
    }

    public void sentWith(SenderHeaders headers) {
        sender = headers;
    }

    /** Returns what the sender said under a name; {@code null} if nothing, or if the message could not be read. */
    public @Nullable String sent(String name) {
        return sender.get(name);
    }

    /** Says how to have the message deleted after its pipeline has ended; the queue's answer comes later. */
    public void deleteBy(Runnable delete) {
        this.delete = delete;
    }

    void delete() {
        delete.run();
    }

    public void begin(Renewal renewal) {
        this.renewal = renewal;
    }

    boolean hasBegun() {
        return renewal != null;
    }

    /** Returns what keeps this delivery ours. */
    public Renewal renewal() {
        Renewal begun = renewal;
        if (begun == null) {
            throw new IllegalStateException("Delivery of message %s has not begun".formatted(messageId));
        }
        return begun;
    }

    public DeliveryState state() {
        return Objects.requireNonNull(state.get());
    }

    /**
     * Takes a step.
     *
     * @return whether it was taken: another thread may have taken another one before
     * @throws IllegalArgumentException if there is no such step
     */
    public boolean step(DeliveryState from, DeliveryState to) {
        if (!from.mayBecome(to)) {
            throw new IllegalArgumentException("A delivery that is %s does not become %s".formatted(from, to));
        }
        return state.compareAndSet(from, to);
    }

    /** Says what becomes of this delivery unless its effect is recorded. */
    public void decide(Disposition decided) {
        disposition = decided;
        if (decided instanceof Disposition.Acknowledge) {
            step(DeliveryState.CLAIMING, DeliveryState.RECORDED);
        }
    }

    public @Nullable Disposition disposition() {
        return disposition;
    }

    /**
     * Returns, once it is settled, whether the message will not come again: it is deleted, or it failed on the last receive
     * before the dead-letter queue.
     */
    public boolean leavesItsQueue() {
        DeliveryState now = state();
        if (now.isAcknowledged()) {
            return true;
        }
        boolean isLeft = now == DeliveryState.HANDLED || now == DeliveryState.ABANDONED;
        return !isLeft && !(disposition instanceof Disposition.Await) && isOnItsLastReceive();
    }

    /** Returns, once it is settled, whether its key is completed, and its message to be deleted. */
    public boolean isAcknowledged() {
        return state().isAcknowledged();
    }

    /** Returns, once it is settled, whether it waits for its key or the store although it will not be delivered once more. */
    public boolean waitsOnItsLastReceive() {
        return !isAcknowledged() && disposition instanceof Disposition.Await && isOnItsLastReceive();
    }

    /** Completes when nothing more is done with this delivery, with whether the message will not come again. */
    public CompletableFuture<Boolean> gone() {
        return gone;
    }

    /** Nothing more is done with this delivery, whose message is visible again. */
    void returned() {
        gone.complete(isOnItsLastReceive());
    }

    /** Nothing more is done with this delivery, which was not returned. A claim that has not come to its handler is given up. */
    void end() {
        DeliveryState now = state();
        while (!now.isFinal() && !step(now, now.isAcknowledged() ? DeliveryState.GONE : DeliveryState.ABANDONED)) {
            now = state();
        }
        if (now == DeliveryState.CLAIMED) {
            var unused = giveUp.get();
        }
        gone.complete(isAcknowledged());
    }

    /** Returns whether the queue moves the message to its dead-letter queue rather than deliver it once more. */
    public boolean isOnItsLastReceive() {
        Integer most = subscription.maxReceiveCount();
        return most != null && receiveCount >= most;
    }

    /**
     * Leaves its listener's pipeline: it is deleted if its effect is on record, abandoned if its effect may have happened
     * without that, and waits or is returned otherwise.
     *
     * @return the state after that; empty if it has left before
     */
    public Optional<DeliveryState> settle() {
        for (DeliveryState now = state(); !now.isSettled(); now = state()) {
            DeliveryState next = settled(now);
            if (step(now, next)) {
                return Optional.of(next);
            }
        }
        return Optional.empty();
    }

    private DeliveryState settled(DeliveryState now) {
        return switch (now) {
            case RECORDED -> DeliveryState.DELETING;
            case HANDLING, HANDLED -> DeliveryState.ABANDONED;
            case CLAIMING -> disposition instanceof Disposition.Await ? DeliveryState.WAITING : DeliveryState.RETURNED;
            default -> DeliveryState.RETURNED;
        };
    }

    /** Begins to be processed, unless its listener has stopped. */
    public boolean enter() {
        CompletableFuture<Void> entered = new CompletableFuture<>();
        // Before the step: a listener that stops must not take this delivery for one that is not processed.
        left = entered;
        boolean begins = step(DeliveryState.RECEIVED, DeliveryState.CLAIMING);
        if (!begins) {
            entered.complete(null);
        }
        return begins;
    }

    /** Has been processed, and how that ended is on record as far as it was possible. */
    public void leave() {
        left.complete(null);
    }

    /** Completes when no thread processes this delivery: at once if none has begun to. */
    public CompletableFuture<Void> left() {
        return left;
    }

    /** Enters a run, which other deliveries of its batch may share: whatever stops one of them interrupts it. */
    public HandlerRun enterHandler(HandlerRun begun) {
        step(DeliveryState.CLAIMED, DeliveryState.HANDLING);
        run = begun;
        // A stop that came first reaches what begins later.
        if (stopRequested) {
            begun.stop();
        }
        return begun;
    }

    /** Begins to count the listener's timeout, which is one for the reconciler and the handler after it. */
    public void limitHandler() {
        Duration timeout = subscription.timeout();
        if (timeout != null) {
            renewal().limit(timeout, this::stopHandler);
        }
    }

    /** The handler's work has ended: from here on no timeout counts. */
    public void leaveHandler() {
        renewal().endLimit();
    }

    /** The handler was not called, although its reconciler may have been. */
    public void withdrawHandler() {
        run = null;
    }

    /** Returns whether its handler was called, however that ended. */
    public boolean wasHandled() {
        return run != null;
    }

    /**
     * Keeps this delivery from being handled unless its handler is running already: its listener is stopping.
     *
     * @return whether no thread has begun to process it, so that it can be returned at once
     */
    public boolean holdBack() {
        heldBack = true;
        return step(DeliveryState.RECEIVED, DeliveryState.HELD_BACK) || state() == DeliveryState.HELD_BACK;
    }

    /**
     * Its key is held for it.
     *
     * @param release gives the claim up, and completes when that is on record
     * @return whether it still waits for the claim: its listener may have ended it meanwhile
     */
    public boolean claimed(Supplier<CompletableFuture<?>> release) {
        giveUp = release;
        return step(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
    }

    /**
     * Keeps this delivery from its handler although its key is held for it, unless the handler has been called: its listener is
     * stopping.
     *
     * @return completes when its claim is given up, so that it can be returned; empty if its handler has been called, or it has
     *     no claim
     */
    public Optional<CompletableFuture<?>> giveUpClaim() {
        heldBack = true;
        return step(DeliveryState.CLAIMED, DeliveryState.HELD_BACK) ? Optional.of(giveUp.get()) : Optional.empty();
    }

    /**
     * Begins to be handled, unless its listener's stop was faster.
     *
     * @return whether its reconciler or its handler may be called
     */
    public boolean beginHandling() {
        return step(DeliveryState.CLAIMED, DeliveryState.HANDLING) || state() == DeliveryState.HANDLING;
    }

    /** Returns whether it has been kept from its handler because its listener is stopping. */
    public boolean isHeldBack() {
        return heldBack && !wasHandled();
    }

    /** Interrupts the handler if it is running, cancels what goes on after it, and keeps it from beginning: its claim is lost, or its time is up. */
    public void stopHandler() {
        stopRequested = true;
        HandlerRun begun = run;
        if (begun != null) {
            begun.stop();
        }
    }

    /** Returns whether the handler may begin, as far as nothing has stopped it. */
    public boolean mayHandlerBegin() {
        return !stopRequested && !heldBack;
    }

    /**
     * Returns whether the handler may be called now: nothing has stopped it, its time is not up, and its claim is held by
     * this JVM's clock. Asked right before the call, and again after whatever may have taken long.
     */
    public boolean isReadyForHandler() {
        return mayHandlerBegin() && renewal().isHeld() && !renewal().isOverLimit();
    }

    /** Stops the handler, and has its completion given up soon: its listener has stopped. */
    public void abandon() {
        abandoned = true;
        holdBack();
        stopHandler();
    }

    public boolean isAbandoned() {
        return abandoned;
    }

    /**
     * A thread that had this delivery in hand has crashed: its handler is stopped, and nothing is released, returned or deleted.
     *
     * @return whether that settles it: it had not been settled before, and its effect is not on record
     */
    boolean crash() {
        abandon();
        DeliveryState now = state();
        while (now.mayBecome(DeliveryState.ABANDONED) && !step(now, DeliveryState.ABANDONED)) {
            now = state();
        }
        leave();
        return !now.isSettled() && state() == DeliveryState.ABANDONED;
    }

    @Override
    public String toString() {
        return "message %s (receive %d) of %s".formatted(messageId, receiveCount, subscription);
    }
}
