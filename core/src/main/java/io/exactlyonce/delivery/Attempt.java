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
 * A delivery's attempt at its key: the claim that the listener wants, the claim that the store granted, and the
 * outcome.
 *
 * <p>An attempt belongs to one thread at a time, and is passed on: from the claiming thread to the handler's thread,
 * and from the handler's thread to the thread that records the outcome. If the delivery waits, the attempt belongs to
 * the thread that looks up waiting keys. The store's queue, the executor, futures, the set of waiting deliveries and
 * the compare-and-set of the delivery's state make an attempt's fields visible to its next thread. Any thread may use
 * the {@link Delivery} itself.
 */
public final class Attempt {

    /** The message's content. */
    @FunctionalInterface
    public interface SentContent {

        /** Returns the text that the sender added to the payload under this name; {@code null} if there is none. */
        @Nullable String header(String name);

        /** Returns the message in the form that the handler gets. Throws after {@link #forget}. */
        default Message<?> message() {
            throw new IllegalStateException("The content of this message is not known any more");
        }

        /** Drops body, payload and headers. Called when no handler needs them any more. */
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
     * Drops the content of the message, to free memory. The body may be as large as SQS permits, and the converted
     * payload may be many times larger. Ids, receipt handle and key stay.
     */
    public void forgetContent() {
        sent.forget();
        sent = NOTHING;
        if (spec != null) {
            spec = spec.withoutContent();
        }
    }

    /**
     * Returns the text that the sender added under this name; {@code null} if there is none, or after {@link
     * #forgetContent}.
     */
    public @Nullable String sent(String name) {
        return sent.header(name);
    }

    /** Returns the message in the form that the handler gets. Throws after {@link #forgetContent}. */
    public Message<?> message() {
        return sent.message();
    }

    /**
     * Sets the claim that the listener wants.
     *
     * @param wanted {@code null} if the message has no usable key; the message is then returned with backoff
     * @param group the message's group on a FIFO queue; empty on a standard queue
     * @param keepsResult whether the handler's result is stored; false for a batch handler, whose result belongs to no
     *     single message
     */
    public void specify(@Nullable ClaimSpec wanted, String group, boolean keepsResult) {
        this.spec = wanted;
        this.group = group;
        this.keepsResult = keepsResult;
    }

    /**
     * Sets how a message without a key is treated.
     *
     * @param policy the listener's policy for such messages
     * @param standIn names the delivery in log lines and events, in place of a key
     * @param unprotected the handler gets this object in place of a claim
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
     * Returns the policy for a message without a key. Returns {@code null} for a message with a key. Each call after
     * the first returns {@code null}, too.
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

    /** Returns the claim that the listener wants. Call this only if {@link #hasKey} returns true. */
    public ClaimSpec spec() {
        return Objects.requireNonNull(spec);
    }

    /**
     * Returns whether the message has a usable key. Also true for a message without a key whose handler is called
     * without a claim: a name of the delivery stands in for the key.
     */
    public boolean hasKey() {
        return spec != null;
    }

    /** Returns the key to claim. Call this only if {@link #hasKey} returns true. */
    public ClaimKey key() {
        return spec().key();
    }

    /** Returns whether the key is claimed in the application's transaction, together with the handler's effects. */
    public boolean isTransactional() {
        return spec != null && spec.transaction() != null;
    }

    public boolean keepsResult() {
        return keepsResult;
    }

    /**
     * Starts processing, unless the listener stopped first. Returns true if this call or an earlier call started
     * processing.
     */
    public boolean begin() {
        processingStarted = processingStarted || delivery.beginProcessing();
        return processingStarted;
    }

    /**
     * Returns whether the key must still be claimed. False if there is no key, or if a request for the key was already
     * made.
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
     * Takes the claim that the store granted, and renews its lease from now on.
     *
     * @param askedAt when the claim was requested, by the monotonic clock
     * @param fence binds the caller's own transaction to the claim
     * @return false if the listener stopped first, so that the caller must release the claim
     */
    public boolean acquired(Acquired acquired, long askedAt, Predicate<ClaimId> fence) {
        MessageVisibility renewed = delivery.visibility();
        claim = new HeldClaim(id(), acquired, renewed::isHeld, () -> fence.test(id()));
        renewed.renewLease(id(), request().lease(), askedAt, delivery::stopHandler);
        return delivery.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
    }

    /** Lets the delivery continue without a claim. The store is not called, and no lease is renewed. */
    public void runUnprotected(ClaimSettings terms) {
        makeRequest(terms);
        claim = new HeldClaim(id(), new Acquired(delivery.receiveCount(), 0, false), () -> false, () -> false);
        delivery.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
    }

    /** Takes a claim that an open transaction holds. Such a claim has no lease to renew. */
    public void acquiredWithin(HeldClaim held) {
        claim = held;
    }

    public boolean isAcquired() {
        return claim != null;
    }

    /** Returns the claim that this attempt holds. Call this only if {@link #isAcquired} returns true. */
    public HeldClaim claim() {
        return Objects.requireNonNull(claim);
    }

    /** Returns the claim that the handler gets. Call this only if {@link #isAcquired} returns true. */
    public Claim handlersClaim() {
        Claim none = unprotected;
        return none == null ? claim() : none;
    }

    /**
     * Returns whether the handler may be called now. All of these must be true:
     * <ul>
     * <li>The delivery was not stopped.
     * <li>Its timeout has not expired.
     * <li>Its lease is valid by this JVM's clock. If the handler runs without a claim, the visibility timeout must
     * be valid.
     * </ul>
     * <p>Callers check this right before the call, and again after any step that may block.
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
     * Returns whether the handler runs and was not stopped. If the claim has a lease, the lease must be valid by this
     * JVM's clock. A claim of a transaction has no lease.
     */
    public boolean mayWork() {
        return delivery.isHandling()
                && (isTransactional()
                        || isUnprotected()
                        || delivery.visibility().isHeld());
    }

    /**
     * Sets the outcome of the attempt, which is recorded later. If the handler's effect has happened, the outcome is a
     * completion. After a completion, the message is deleted or abandoned, and never returned. An attempt without a
     * claim has nothing to record.
     *
     * @return false if another thread changed the delivery's state first, such as the listener's stop, which releases
     *     the claim
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
     * Releases the claim because the handler was not called, so that the key is not in doubt. Does nothing if the
     * listener's stop releases the claim.
     */
    public void release(String reason) {
        claim = null;
        if (resolve(new ClaimResolution.Released(id(), reason, false))) {
            delivery.forgetCall();
        } else {
            resolution = null;
        }
    }

    /** Removes and returns the outcome that is to be recorded; {@code null} if there is nothing to record. */
    public @Nullable ClaimResolution takeResolution() {
        ClaimResolution taken = resolution;
        resolution = null;
        return taken;
    }

    /**
     * Sets the failure of the attempt, if none is set. The first failure is the handler's own, and later failures only
     * follow from it. The message of an application exception is left out, because it may quote a payload.
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
     * Returns a text about the attempt's failure: the exception's class, the attempt's number and the key. If the
     * claim's transaction failed, the text also contains the exception's message.
     *
     * @return {@code null} if there is no failure, or the message has no usable key
     */
    public @Nullable String failure() {
        return failure;
    }
}
