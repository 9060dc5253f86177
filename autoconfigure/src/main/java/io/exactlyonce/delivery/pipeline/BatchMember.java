package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.Release;
import io.exactlyonce.delivery.BatchItem;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.HandlerRun;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A message on its way through its batch. Used by the thread that processes the batch. */
final class BatchMember {

    private final int index;
    private final BatchItem item;
    private final boolean entered;

    private @Nullable ClaimRequest request;
    private @Nullable LeasedClaim claim;
    private @Nullable Throwable failure;
    private boolean stopped;

    BatchMember(int index, BatchItem item) {
        this.index = index;
        this.item = item;
        this.entered = item.delivery().enter();
    }

    boolean hasEntered() {
        return entered;
    }

    void leave() {
        if (entered) {
            delivery().leave();
        }
    }

    Delivery delivery() {
        return item.delivery();
    }

    String group() {
        return item.group();
    }

    ClaimSpec handling() {
        return Objects.requireNonNull(item.handling());
    }

    /** Tells whether its key can be claimed: it has one, and its listener has not stopped. */
    boolean isClaimable() {
        return entered && item.handling() != null;
    }

    ClaimRequest ask(ClaimSettings terms) {
        ClaimRequest asked = terms.request(handling(), delivery().subscription().window());
        request = asked;
        return asked;
    }

    /**
     * @param begun when the claim was asked for, by the monotonic clock
     * @param fence ties the caller's transaction to the claim
     */
    void acquire(Acquired acquired, long begun, Predicate<ClaimId> fence) {
        ClaimRequest asked = Objects.requireNonNull(request);
        Delivery delivery = delivery();
        delivery.step(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
        claim = new LeasedClaim(asked.id(), acquired, delivery.renewal()::isHeld, fence);
        delivery.renewal().hold(asked.id(), asked.lease(), begun, delivery::stopHandler);
    }

    boolean isAcquired() {
        return claim != null;
    }

    /** Tells whether its handler may be called: a pause, a late answer or a reconciler may have used up the lease. */
    boolean isHeld() {
        return isAcquired() && delivery().isReadyForHandler();
    }

    ClaimId id() {
        return Objects.requireNonNull(request).id();
    }

    LeasedClaim claim() {
        return Objects.requireNonNull(claim);
    }

    ClaimedItem claimed() {
        return new ClaimedItem(index, claim());
    }

    ClaimLostException lost(String reason) {
        return claim().lost(reason);
    }

    /** Gives its claim up before the handler was called. */
    Release giveBack(String reason) {
        Release release = new Release(id(), reason, false);
        if (!delivery().step(DeliveryState.CLAIMED, DeliveryState.FAILED)) {
            delivery().step(DeliveryState.HANDLING, DeliveryState.FAILED);
        }
        delivery().renewal().letGo();
        delivery().withdrawHandler();
        claim = null;
        return release;
    }

    /** Makes its message visible as soon as its batch is done: an earlier one of its group comes first. */
    void yieldToItsGroup() {
        delivery().decide(new Disposition.Return(Duration.ZERO));
    }

    /** @param run what was running for it */
    void fail(Throwable thrown, HandlerRun run) {
        failure = thrown;
        stopped = run.wasInterrupted();
    }

    FailedAttempt failedAttempt() {
        return new FailedAttempt(id(), Objects.requireNonNull(failure), stopped);
    }
}
