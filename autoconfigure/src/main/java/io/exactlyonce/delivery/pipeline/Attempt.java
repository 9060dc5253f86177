package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One delivery's attempt on its way through the pipeline: its claim, and how its handler ended. Used by the thread that
 * processes it, then by the one that records it.
 */
public final class Attempt {

    private final Delivery delivery;
    private final String group;
    private final @Nullable ClaimSpec spec;
    private final boolean keepsResult;

    private @Nullable ClaimRequest request;
    private @Nullable LeasedClaim claim;
    private @Nullable Object result;
    private @Nullable FailedAttempt failure;
    private boolean begun;
    private boolean answered;
    private volatile CompletableFuture<?> end = CompletableFuture.completedFuture(null);

    private Attempt(Delivery delivery, String group, @Nullable ClaimSpec spec, boolean keepsResult) {
        this.delivery = delivery;
        this.group = group;
        this.spec = spec;
        this.keepsResult = keepsResult;
    }

    /** A delivery that comes alone, whose handler's result is kept. */
    public static Attempt single(Delivery delivery, ClaimSpec spec) {
        return new Attempt(delivery, "", spec, true);
    }

    /**
     * A delivery of a batch: there is no result of one message that could be kept.
     *
     * @param group the message's group on a FIFO queue, empty on a standard one
     * @param spec what the listener asks for, or {@code null} if the message has no usable key: it is returned with backoff
     */
    public static Attempt ofBatch(Delivery delivery, String group, @Nullable ClaimSpec spec) {
        return new Attempt(delivery, group, spec, false);
    }

    Delivery delivery() {
        return delivery;
    }

    String group() {
        return group;
    }

    ClaimSpec spec() {
        return Objects.requireNonNull(spec);
    }

    /** Begins, unless the listener has stopped; whatever happens from here on, the message comes again unless it is recorded. */
    boolean begin(Disposition retry) {
        begun = delivery.enter();
        if (begun) {
            delivery.decide(retry);
        }
        return begun;
    }

    boolean isBegun() {
        return begun;
    }

    /** @param written completes, whether or not it fails, when how it ended is on record as far as that is possible */
    void endsWith(CompletableFuture<?> written) {
        end = written;
    }

    /** Leaves the pipeline as soon as how it ended is on record. One that is held back leaves by its listener's stop. */
    void leave() {
        if (begun && delivery.state() != DeliveryState.HELD_BACK) {
            var unused = end.whenComplete((written, failure) -> delivery.leave());
        }
    }

    /** Returns whether its key is to be claimed: it has one, its listener has not stopped, and there is no answer yet. */
    public boolean isToBeClaimed() {
        return begun && spec != null && !answered;
    }

    /**
     * Returns whether its claim is repeated that gets no answer: it is on its last receive before the dead-letter queue, so that to
     * wait, and to come again, would be its message's end, untried.
     */
    boolean isAtStake() {
        return delivery.isOnItsLastReceive() && mayStillBeHandled();
    }

    /** Returns whether nothing has stopped its handler, and no other consumer can have its message. */
    boolean mayStillBeHandled() {
        return delivery.mayHandlerBegin() && delivery.renewal().isInvisible();
    }

    /** Returns whether its key is claimed in a transaction of the application's, together with the handler's effects. */
    public boolean isTransactional() {
        return spec != null && spec.transaction() != null;
    }

    void ask(ClaimRequest asked) {
        request = asked;
    }

    ClaimRequest request() {
        return Objects.requireNonNull(request);
    }

    ClaimId id() {
        return request().id();
    }

    /** @param asked when the claim was asked for, by the monotonic clock */
    void acquire(Acquired acquired, long asked, ClaimWriter writer) {
        answered = true;
        claim = new LeasedClaim(id(), acquired, delivery.renewal()::isHeld, () -> writer.fence(id()));
        delivery.renewal().hold(id(), request().lease(), asked, delivery::stopHandler);
        if (!delivery.claimed(() -> release(writer))) {
            claim = null;
            endsWith(release(writer));
        }
    }

    /** Without a doubt: its handler has not been called. */
    private CompletableFuture<Void> release(ClaimWriter writer) {
        delivery.renewal().letGo();
        return writer.release(List.of(new ClaimEnd.Released(id(), FailedAttempt.NOT_CALLED, false)));
    }

    /** There is an answer, and the key is not held for it. */
    void decide(Disposition disposition) {
        answered = true;
        delivery.decide(disposition);
    }

    boolean isAcquired() {
        return claim != null;
    }

    /** Returns whether its handler may be called: a pause, a late answer or a reconciler may have used up the lease. */
    boolean isHeld() {
        return isAcquired() && delivery.isReadyForHandler();
    }

    /** Returns the claim on its key. Only while it holds one. */
    public LeasedClaim claim() {
        return Objects.requireNonNull(claim);
    }

    /** Its key is held by a transaction that has not ended yet, and no lease is to be renewed. */
    void holdWithin(LeasedClaim held) {
        claim = held;
    }

    /** Returns whether a reconciler is to be asked before its handler is called. Only while it holds a claim. */
    boolean isToBeReconciled() {
        return spec().doubt().reconciler() != null && claim().isAmbiguous();
    }

    ClaimLostException lost(String reason) {
        return claim().lost(reason);
    }

    /** Gives its claim up before the handler was called, without a doubt; not if its listener's stop does so. */
    Optional<ClaimEnd.Released> giveBack(String reason) {
        claim = null;
        if (!hadNoEffect()) {
            return Optional.empty();
        }
        delivery.renewal().letGo();
        delivery.withdrawHandler();
        return Optional.of(new ClaimEnd.Released(id(), reason, false));
    }

    /** Returns whether its key is held for it, and no handler has been called. */
    boolean isUnhandled() {
        return isAcquired() && delivery.state() == DeliveryState.CLAIMED;
    }

    /** Makes its message visible as soon as its batch is done: an earlier one of its group comes first. */
    void yieldToItsGroup() {
        delivery.decide(new Disposition.Return(Duration.ZERO));
    }

    /** The effect has happened: from here on the message is deleted or abandoned, but not returned. */
    void done(@Nullable Object returned) {
        result = keepsResult ? returned : null;
        delivery.step(DeliveryState.HANDLING, DeliveryState.HANDLED);
    }

    /** @param stopped whether it was stopped from outside, so that it may have had effects that it could not report */
    void fail(Throwable thrown, boolean stopped) {
        failure = new FailedAttempt(id(), thrown, stopped);
    }

    @Nullable FailedAttempt failure() {
        return failure;
    }

    /** Its handler was not called, or in a transaction that was rolled back. Returns whether that is how it ended. */
    boolean hadNoEffect() {
        return delivery.step(DeliveryState.CLAIMED, DeliveryState.FAILED)
                || delivery.step(DeliveryState.HANDLING, DeliveryState.FAILED);
    }

    void recorded() {
        delivery.step(DeliveryState.HANDLED, DeliveryState.RECORDED);
    }

    @Nullable Object result() {
        return result;
    }

    /** Names the delivery only: a payload is no business of a log's. */
    @Override
    public String toString() {
        return delivery.toString();
    }
}
