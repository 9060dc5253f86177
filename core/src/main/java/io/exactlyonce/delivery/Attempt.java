package io.exactlyonce.delivery;

import io.exactlyonce.Claim;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import io.exactlyonce.renewal.MessageVisibility;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * Holds what a delivery knows about its key: the claim to request, the claim that the store granted, and the outcome to
 * record.
 *
 * <p>Not thread-safe. Only one thread at a time may use an attempt. Pass the attempt to another thread safely (for
 * example through an executor, a future, or the compare-and-set of the delivery's state). Any thread may use the {@link
 * Delivery} itself.
 */
public final class Attempt {

    /** The message's content. */
    @FunctionalInterface
    public interface SentContent {

        /**
         * Returns a text header of the received message (for example {@code traceparent}); {@code null} if there is
         * none.
         */
        @Nullable String header(String name);

        /** Returns the message that is passed to the handler. Throws after {@link #forget}. */
        default Message<?> message() {
            throw new IllegalStateException("The content of this message is not known any more");
        }

        /** Drops body, payload and headers, to free memory. */
        default void forget() {}
    }

    private static final SentContent NOTHING = name -> null;

    private final Delivery delivery;
    private SentContent sent = NOTHING;
    private String group = "";
    private @Nullable ClaimSpec spec;
    private boolean keepsResult;
    private boolean processingStarted;
    private @Nullable ClaimRequest request;
    private @Nullable HeldClaim claim;
    private @Nullable ClaimResolution resolution;
    private @Nullable MissingKeyPolicy missing;
    private @Nullable Claim unprotected;

    /** Volatile, because an error handler may read this field on another thread. */
    private volatile @Nullable String failure;

    Attempt(Delivery delivery) {
        this.delivery = delivery;
    }

    public void carries(SentContent content) {
        sent = content;
    }

    /**
     * Drops the content of the message, to free memory. The body may be large, and the converted payload even larger.
     * Ids, receipt handle and key stay.
     */
    public void forgetContent() {
        sent.forget();
        sent = NOTHING;
        if (spec != null) {
            spec = spec.withoutContent();
        }
    }

    /**
     * Returns a text header of the received message (for example {@code traceparent}). Returns {@code null} if there is
     * none, or after {@link #forgetContent}.
     */
    public @Nullable String sent(String name) {
        return sent.header(name);
    }

    /** Returns the message that is passed to the handler. Throws after {@link #forgetContent}. */
    public Message<?> message() {
        return sent.message();
    }

    /**
     * Sets which claim to request for this delivery.
     *
     * @param wanted {@code null} if the message has no usable key. The message is then returned with backoff
     * @param group the message's FIFO group; empty on a standard queue
     * @param keepsResult whether to store the handler's result. False for a batch handler, because its one result is
     *     for several messages
     */
    public void specify(@Nullable ClaimSpec wanted, String group, boolean keepsResult) {
        this.spec = wanted;
        this.group = group;
        this.keepsResult = keepsResult;
    }

    /**
     * Sets how to treat a message that has no key.
     *
     * @param policy the listener's policy for such messages
     * @param standIn a name for the delivery in log lines and events, because there is no key to print
     * @param unprotected the object that the handler gets if it requests a {@link Claim}
     */
    public void specifyWithoutKey(MissingKeyPolicy policy, ClaimKey standIn, Claim unprotected, String group) {
        this.missing = policy;
        this.group = group;
        if (policy == MissingKeyPolicy.RUN_UNPROTECTED) {
            this.spec = new ClaimSpec(standIn, null, InDoubtSettings.RERUN);
            this.unprotected = unprotected;
        }
    }

    /**
     * Returns the policy for a message without a key. Later calls return {@code null}, because the policy must not be
     * applied twice.
     *
     * @return {@code null} if the message has a key
     */
    public @Nullable MissingKeyPolicy takeMissingKey() {
        MissingKeyPolicy taken = missing;
        missing = null;
        return taken;
    }

    /** Returns whether the handler is called without a claim, because the message has no key. */
    public boolean isUnprotected() {
        return unprotected != null;
    }

    public String group() {
        return group;
    }

    /** Returns the claim to request. Throws if {@link #hasKey} is false. */
    public ClaimSpec spec() {
        return Objects.requireNonNull(spec);
    }

    /**
     * Returns whether there is a key. Also returns true if the handler may run without a claim: log lines and events
     * then contain a stand-in key.
     */
    public boolean hasKey() {
        return spec != null;
    }

    /** Returns the key to claim. Throws if {@link #hasKey} is false. */
    public ClaimKey key() {
        return spec().key();
    }

    /** Returns whether the key is claimed in the application's own transaction, together with the handler's writes. */
    public boolean isTransactional() {
        return spec != null && spec.transaction() != null;
    }

    public boolean keepsResult() {
        return keepsResult;
    }

    /**
     * Starts processing if it has not started yet.
     *
     * @return false if the listener stopped before processing started
     */
    public boolean begin() {
        processingStarted = processingStarted || delivery.beginProcessing();
        return processingStarted;
    }

    /**
     * Returns whether the key must still be claimed. False if there is no key, or if the claim was requested before.
     */
    public boolean isToBeClaimed() {
        return spec != null && request == null;
    }

    /** Makes the request that claims the key. */
    public ClaimRequest makeRequest(ClaimSettings terms) {
        request = terms.request(spec(), delivery.settings().window());
        return request;
    }

    public ClaimRequest request() {
        return Objects.requireNonNull(request);
    }

    public ClaimId id() {
        return request().id();
    }

    /**
     * Stores the claim that the claim store granted, and starts to renew its lease.
     *
     * @param askedAt when the claim was requested, by the monotonic clock
     * @param fence implements {@link Claim#fence}; returns false if the claim is lost
     * @return false if the listener stopped before the claim was granted. The caller must then release the claim
     */
    public boolean acquired(Acquired acquired, long askedAt, Predicate<ClaimId> fence) {
        MessageVisibility renewed = delivery.visibility();
        claim = new HeldClaim(id(), acquired, renewed::isHeld, () -> fence.test(id()));
        renewed.renewLease(id(), request().lease(), askedAt, delivery::stopHandler);
        return delivery.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
    }

    /** Lets the handler be called without a claim. Sends no request to the claim store, and renews no lease. */
    public void runUnprotected(ClaimSettings terms) {
        makeRequest(terms);
        claim = new HeldClaim(id(), new Acquired(delivery.receiveCount(), 0, false), () -> false, () -> false);
        delivery.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
    }

    /** Stores the claim of a handler that runs in a transaction. Such a claim has no lease to renew. */
    public void acquiredWithin(HeldClaim held) {
        claim = held;
    }

    public boolean isAcquired() {
        return claim != null;
    }

    /** Returns the claim that this attempt holds. Throws if {@link #isAcquired} is false. */
    public HeldClaim claim() {
        return Objects.requireNonNull(claim);
    }

    /** Returns the claim to pass to the handler. Throws if {@link #isAcquired} is false. */
    public Claim handlersClaim() {
        Claim none = unprotected;
        return none == null ? claim() : none;
    }

    /**
     * Returns whether the handler may be called now. All of these must be true:
     * <ul>
     * <li>The delivery was not stopped.
     * <li>The listener's timeout has not expired.
     * <li>The key is claimed, and the lease is valid by this JVM's clock. If the handler runs without a claim, the
     * visibility timeout must be valid instead.
     * </ul>
     *
     * <p>Check this right before the call, and again after any step that may block.
     */
    public boolean isReady() {
        return claim != null
                && delivery.mayHandlerBegin()
                && (isUnprotected()
                        ? delivery.visibility().isInvisible()
                        : delivery.visibility().isHeld())
                && !delivery.visibility().isPastTimeout();
    }

    /**
     * Returns whether the handler is running and may continue. Returns false after a stop, or if the claim's lease has
     * expired by this JVM's clock. In a transaction, or without a claim, there is no lease that could expire.
     */
    public boolean mayWork() {
        return delivery.isHandling()
                && (isTransactional()
                        || isUnprotected()
                        || delivery.visibility().isHeld());
    }

    /**
     * Sets the outcome to send to the store (see {@link #takeResolution}), and marks the handler's end in the
     * delivery's state. If the handler succeeded, its message cannot be returned to the queue after this call. If the
     * handler ran without a claim, nothing is sent.
     *
     * @return false if another thread changed the state first (for example the thread that stops the listener). The
     *     other thread then releases the claim
     */
    public boolean resolve(ClaimResolution outcome) {
        if (isUnprotected()) {
            return endUnprotected(outcome instanceof ClaimResolution.Completed);
        }
        resolution = outcome;
        if (outcome instanceof ClaimResolution.Completed) {
            delivery.visibility().completing();
            return delivery.transition(DeliveryState.HANDLING, DeliveryState.HANDLED);
        }
        delivery.visibility().stopLeaseRenewal();
        return delivery.markFailed();
    }

    private boolean endUnprotected(boolean hasSucceeded) {
        delivery.visibility().cancelTimeout();
        return hasSucceeded
                ? delivery.transition(DeliveryState.HANDLING, DeliveryState.HANDLED)
                        && delivery.transition(DeliveryState.HANDLED, DeliveryState.RECORDED)
                : delivery.markFailed();
    }

    /**
     * Releases the claim of a delivery whose handler was not called. The key is then free, and not in doubt. If the
     * listener's stop already releases the claim, does nothing.
     */
    public void release(String reason) {
        claim = null;
        if (resolve(new ClaimResolution.Released(id(), reason, false))) {
            delivery.forgetCall();
        } else {
            resolution = null;
        }
    }

    /** Removes and returns the outcome to send to the store; {@code null} if there is none. */
    public @Nullable ClaimResolution takeResolution() {
        ClaimResolution taken = resolution;
        resolution = null;
        return taken;
    }

    /**
     * Keeps the first failure for the log. Later failures are ignored, because the first has usually caused them. The
     * text of an application's exception is left out, because it may quote a payload.
     */
    public void failed(Throwable thrown) {
        if (failure == null && spec != null) {
            Throwable own = Causes.unwrap(thrown);
            String place = isUnprotected()
                    ? "without a key, unprotected"
                    : claim == null
                            ? "%s, not claimed".formatted(spec.key())
                            : "attempt %d at %s".formatted(claim.attempt(), spec.key());
            String reason = own instanceof ClaimTransactionException ? ": " + own.getMessage() : "";
            failure = "%s (%s)%s".formatted(own.getClass().getName(), place, reason);
        }
    }

    /**
     * Describes the failure for the log: the exception's class, the attempt's number and the key. Has the exception's
     * text only for a {@link ClaimTransactionException}.
     *
     * @return {@code null} if there is no failure, or if the message has no usable key
     */
    public @Nullable String failure() {
        return failure;
    }
}
