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
 * A delivery's attempt at its key: what is to be claimed, the claim, and how the attempt ended.
 *
 * <p>An attempt belongs to one thread at a time. The claiming thread passes it to the handler's thread, and the
 * handler's thread to the thread that records the outcome. If the delivery waits, the attempt belongs to the thread
 * that looks up waiting keys. Between these threads, the store's queue, the executor, futures, the set of waiting
 * deliveries and the compare-and-set of the delivery's state publish it. Any thread may use the {@link Delivery}.
 */
public final class Attempt {

    /** The message's content. */
    @FunctionalInterface
    public interface SentContent {

        /** Returns a text that the sender added to the payload under a name; {@code null} if there is none. */
        @Nullable String header(String name);

        /** Returns the message as the handler gets it. Not available after {@link #forget}. */
        default Message<?> message() {
            throw new IllegalStateException("The content of this message is not known any more");
        }

        /** Drops body, payload and headers, because no handler needs them any more. */
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

    /** Volatile, because an error handler may read it on another thread. */
    private volatile @Nullable String failure;

    Attempt(Delivery delivery) {
        this.delivery = delivery;
    }

    public void carries(SentContent content) {
        sent = content;
    }

    /**
     * Drops the content, which a sender may make as long as a queue permits, and a converter many times longer. Ids,
     * receipt handle and key stay.
     */
    public void forgetContent() {
        sent.forget();
        sent = NOTHING;
        if (spec != null) {
            spec = spec.withoutContent();
        }
    }

    /** Returns the sender's metadata of a name; {@code null} if there is none, or the content is forgotten. */
    public @Nullable String sent(String name) {
        return sent.header(name);
    }

    /** Returns the message as the handler gets it. Not available after {@link #forgetContent}. */
    public Message<?> message() {
        return sent.message();
    }

    /**
     * Sets the claim that the listener specifies.
     *
     * @param wanted {@code null} if the message has no usable key: it is returned with backoff
     * @param group the message's group on a FIFO queue, else empty
     * @param keepsResult whether the handler's result is stored; a batch handler has no result for a single message
     */
    public void specify(@Nullable ClaimSpec wanted, String group, boolean keepsResult) {
        this.spec = wanted;
        this.group = group;
        this.keepsResult = keepsResult;
    }

    /**
     * Sets what happens to a message without a key.
     *
     * @param policy the listener's
     * @param standIn names the delivery in log lines and events, in place of a key
     * @param unprotected the handler's substitute for a claim
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
     * Returns the policy for a message without a key, once. Returns {@code null} for a message with a key, and for
     * later calls.
     */
    public @Nullable MissingKeyPolicy takeMissingKey() {
        MissingKeyPolicy taken = missing;
        missing = null;
        return taken;
    }

    /** Returns whether the handler is called without a claim. */
    public boolean isUnprotected() {
        return unprotected != null;
    }

    public String group() {
        return group;
    }

    /** Returns the claim that the listener specifies. Only if the message has a usable key. */
    public ClaimSpec spec() {
        return Objects.requireNonNull(spec);
    }

    /** Returns whether the message has a usable key. */
    public boolean hasKey() {
        return spec != null;
    }

    /** Returns the key to claim. Only if the message has a usable key. */
    public ClaimKey key() {
        return spec().key();
    }

    /** Returns whether the key is claimed in an application transaction, together with the handler's effects. */
    public boolean isTransactional() {
        return spec != null && spec.transaction() != null;
    }

    public boolean keepsResult() {
        return keepsResult;
    }

    /** Starts processing, unless the listener stopped. Returns whether processing started, now or before. */
    public boolean begin() {
        processingStarted = processingStarted || delivery.beginProcessing();
        return processingStarted;
    }

    /** Returns whether the key must still be claimed: there is a key, and no request for it was made yet. */
    public boolean isToBeClaimed() {
        return spec != null && request == null;
    }

    /** Makes the request for the key. */
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
     * Takes the claim that the store granted. Its lease is renewed from now on.
     *
     * @param askedAt when the claim was requested, by the monotonic clock
     * @param fence ties the caller's own transaction to the claim
     * @return false if the listener stopped meanwhile, and the caller must release the claim
     */
    public boolean acquired(Acquired acquired, long askedAt, Predicate<ClaimId> fence) {
        MessageVisibility renewed = delivery.visibility();
        claim = new HeldClaim(id(), acquired, renewed::isHeld, () -> fence.test(id()));
        renewed.renewLease(id(), request().lease(), askedAt, delivery::stopHandler);
        return delivery.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
    }

    /** Continues without a claim: the store is not called, and no lease is renewed. */
    public void runUnprotected(ClaimSettings terms) {
        makeRequest(terms);
        claim = new HeldClaim(id(), new Acquired(delivery.receiveCount(), 0, false), () -> false, () -> false);
        delivery.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
    }

    /** Takes a claim that an open transaction holds. No lease is renewed. */
    public void acquiredWithin(HeldClaim held) {
        claim = held;
    }

    public boolean isAcquired() {
        return claim != null;
    }

    /** Returns the claim that this attempt holds. Only while it holds one. */
    public HeldClaim claim() {
        return Objects.requireNonNull(claim);
    }

    /** Returns the claim that the handler gets. Only while {@link #isAcquired}. */
    public Claim handlersClaim() {
        Claim none = unprotected;
        return none == null ? claim() : none;
    }

    /**
     * Returns whether the handler may be called now: the delivery was not stopped, its timeout has not expired, and its
     * lease is valid by this JVM's clock. Without a claim, its visibility timeout must be valid instead. Callers check
     * this right before the call, and again after any step that may block.
     */
    public boolean isReady() {
        return claim != null
                && delivery.mayHandlerBegin()
                && (isUnprotected()
                        ? delivery.visibility().isInvisible()
                        : delivery.visibility().isHeld())
                && !delivery.visibility().isPastTimeout();
    }

    /** Returns whether the handler runs, was not stopped, and has a valid lease by this JVM's clock. */
    public boolean mayWork() {
        return delivery.isHandling()
                && (isTransactional()
                        || isUnprotected()
                        || delivery.visibility().isHeld());
    }

    /**
     * Sets the outcome of the attempt, to be recorded. If the effect has happened, the outcome is a completion: from
     * here on, the message is deleted or abandoned, but not returned. Without a claim, nothing is recorded.
     *
     * @return false if the listener's stop has already released the claim
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
     * Releases the claim, not in doubt, because the handler was not called. Does nothing if the listener's stop
     * releases it.
     */
    public void release(String reason) {
        claim = null;
        if (resolve(new ClaimResolution.Released(id(), reason, false))) {
            delivery.forgetCall();
        } else {
            resolution = null;
        }
    }

    /** Takes the outcome of the attempt, to record it; {@code null} if there is nothing to record. */
    public @Nullable ClaimResolution takeResolution() {
        ClaimResolution taken = resolution;
        resolution = null;
        return taken;
    }

    /**
     * Sets the failure of the attempt. Only the first failure counts, because the handler's own failure comes before
     * others. An application exception is kept without its message, which may quote a payload.
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
     * claim's transaction failed, the text also has the reason. {@code null} without a failure, or without a usable
     * key.
     */
    public @Nullable String failure() {
        return failure;
    }
}
