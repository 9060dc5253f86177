package io.exactlyonce.delivery;

import io.exactlyonce.renewal.Renewal;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One receipt of a message. It is received, perhaps handled, then settled once: acknowledged, returned or abandoned.
 *
 * <p>Thread-safe: polled, handled, renewed and acknowledged by different threads.
 */
public final class Delivery {

    private final Subscription subscription;
    private final String messageId;
    private final String receiptHandle;
    private final int receiveCount;
    private final long receivedAt;
    private final AtomicBoolean settled = new AtomicBoolean();
    private final DeliveryState progress = new DeliveryState();
    private final CompletableFuture<Boolean> gone = new CompletableFuture<>();

    private volatile @Nullable Renewal renewal;
    private volatile @Nullable Disposition disposition;
    private volatile Runnable delete = () -> {
        throw new IllegalStateException("Nobody has said how to delete message %s".formatted(messageId()));
    };

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

    /** Returns what keeps this delivery ours. */
    public Renewal renewal() {
        Renewal begun = renewal;
        if (begun == null) {
            throw new IllegalStateException("Delivery of message %s has not begun".formatted(messageId));
        }
        return begun;
    }

    public void decide(Disposition disposition) {
        this.disposition = disposition;
    }

    public @Nullable Disposition disposition() {
        return disposition;
    }

    /**
     * Tells, once it is settled, whether the message will not come again: it is deleted, or it failed on the last receive
     * before the dead-letter queue.
     */
    public boolean leavesItsQueue() {
        Disposition decided = disposition;
        if (decided == null) {
            return isOnItsLastReceive();
        }
        return switch (decided.kind()) {
            case ACKNOWLEDGE -> true;
            case RETURN -> decided.awaited() == null && isOnItsLastReceive();
            case ABANDON -> false;
        };
    }

    /** Tells, once it is settled, whether its key is completed, and its message to be deleted. */
    public boolean isAcknowledged() {
        return Disposition.ACKNOWLEDGE.equals(disposition);
    }

    /** Tells, once it is settled, whether it waits for others although it will not be delivered once more. */
    public boolean waitsOnItsLastReceive() {
        Disposition decided = disposition;
        return decided != null && decided.awaited() != null && isOnItsLastReceive();
    }

    /** Completes when nothing more is done with this delivery, with whether the message will not come again. */
    public CompletableFuture<Boolean> gone() {
        return gone;
    }

    /** Nothing more is done with this delivery. */
    void end(boolean isGone) {
        gone.complete(isGone);
    }

    /** Tells whether the queue moves the message to its dead-letter queue rather than deliver it once more. */
    public boolean isOnItsLastReceive() {
        Integer most = subscription.maxReceiveCount();
        return most != null && receiveCount >= most;
    }

    /** Claims the right to settle this delivery: only the first caller has it. */
    public boolean beginSettling() {
        return settled.compareAndSet(false, true);
    }

    /** Begins to be processed, unless its listener has stopped. */
    public boolean enter() {
        return progress.enter();
    }

    /** Has been processed, and how that ended is on record as far as it was possible. */
    public void leave() {
        progress.leave();
    }

    /** Completes when nobody processes this delivery: at once if nobody has begun to. */
    public CompletableFuture<Void> left() {
        return progress.left();
    }

    public HandlerRun enterHandler() {
        limitHandler();
        return enterHandler(new HandlerRun());
    }

    /** Enters a run, which other deliveries of its batch may share: whatever stops one of them interrupts it. */
    public HandlerRun enterHandler(HandlerRun begun) {
        progress.enterHandler(begun);
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

    /** The handler was not called, although its reconciler was. */
    public void withdrawHandler() {
        progress.withdraw();
    }

    /** The handler's method has returned, and its work goes on. */
    public void goOn(FutureRun begun) {
        progress.goOn(begun);
    }

    boolean wasHandled() {
        return progress.wasHandled();
    }

    /**
     * Keeps this delivery from being handled unless its handler is running already: its listener is stopping.
     *
     * @return whether nobody has begun to process it, so that it can be returned at once
     */
    public boolean bar() {
        return progress.bar();
    }

    /** Tells whether it has been kept from its handler because its listener is stopping. */
    public boolean isHeldBack() {
        return progress.isBarred() && !progress.wasHandled();
    }

    /** Interrupts the handler if it is running, cancels what goes on after it, and keeps it from beginning: its claim is lost, or its time is up. */
    public void stopHandler() {
        progress.stopHandler();
    }

    /** Tells whether the handler may begin, as far as nobody has stopped it. */
    public boolean mayHandlerBegin() {
        return progress.mayHandlerBegin();
    }

    /**
     * Returns whether the handler may be called now: nothing has stopped it, its time is not up, and its claim is held by
     * this JVM's clock. Asked right before the call, and again after whatever may have taken long.
     */
    public boolean isReadyForHandler() {
        return mayHandlerBegin() && renewal().isHeld() && !renewal().isOverLimit();
    }

    /** Stops the handler, and makes nobody wait for its completion for long: its listener has stopped. */
    public void abandon() {
        progress.abandon();
    }

    public boolean isAbandoned() {
        return progress.isAbandoned();
    }

    @Override
    public String toString() {
        return "message %s (receive %d) of %s".formatted(messageId, receiveCount, subscription);
    }
}
