package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.renewal.RenewalEvent.Target;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of one claim. The lease is renewed until {@link #stopRenewal}, but at most until SQS's ceiling of 12 h,
 * because a handler that hangs must not hold its key forever.
 *
 * <p>The loss of a lease stops the handler, once, unless the completion of the claim has started. A lease is lost in
 * these cases:
 *
 * <ul>
 *   <li>The store reports that the claim no longer holds its key.
 *   <li>Renewals fail until shortly before the lease's end by this JVM's monotonic clock.
 *   <li>A renewal has no answer at the lease's end.
 *   <li>The lease is about to end, and is no longer renewed because the handler's timeout has passed.
 *   <li>SQS's ceiling is reached.
 * </ul>
 *
 * <p>A lease that has expired can still be renewed, because only the store decides whether another worker has taken the
 * key over.
 *
 * <p>The process may pause between a call of {@link #isHeld()} and the next step of the caller. So the lease may have
 * expired when the caller acts on the result.
 */
public final class Lease extends Renewable {

    private static final Logger log = LoggerFactory.getLogger(Lease.class);

    final ClaimId claim;
    private final @Nullable MessageVisibility visibility;
    private final Runnable holder;

    /**
     * @param visibility visibility timeout of the claim's message; {@code null} if the claim has no message
     * @param holder stops the handler if the lease is lost; must not block
     */
    Lease(
            Renewer renewer,
            @Nullable MessageVisibility visibility,
            ClaimId claim,
            Duration length,
            long askedAt,
            Runnable holder) {
        super(renewer, length, visibility == null ? askedAt : visibility.receivedAt, askedAt);
        this.visibility = visibility;
        this.claim = claim;
        this.holder = holder;
    }

    /** Returns whether the lease is neither lost nor stopped, and not expired by this JVM's monotonic clock. */
    public boolean isHeld() {
        return isOn();
    }

    /**
     * Called when the completion of the claim starts. The lease is still renewed, because the completion may take long.
     * If a renewal finds that the claim no longer holds its key, the completion itself may be the reason. So the answer
     * to the completion decides whether the claim is lost, and not the renewal.
     */
    public void completing() {
        ending = true;
    }

    /** Stops renewal of the lease, because the claim has been completed, released, parked or lost. */
    public void stopRenewal() {
        renewer.leases.remove(this);
        end();
    }

    /**
     * Returns whether the lease is to be renewed. Returns false if renewals are disabled. Also returns false after the
     * handler's timeout, so that the lease expires as the message's visibility timeout does.
     */
    @Override
    boolean isKept() {
        return visibility == null ? renewer.schedule.enabled() : visibility.isKept();
    }

    @Override
    void report(Result result) {
        Subscription subscription = visibility == null ? null : visibility.subscription;
        Object whose = subscription == null ? "a call of ExactlyOnceOperations" : subscription;
        if (result == Result.LOST && ending) {
            log.warn(
                    "The lease on {} of {} has expired before its completion was answered. The "
                            + "completion is recorded unless another worker has taken the key over",
                    claim.key(),
                    whose);
            return;
        }
        if (result == Result.LOST) {
            log.error(
                    "The claim on {} of {} is lost: its handler is interrupted, and its result discarded. Look for"
                            + " a pause or an outage of the claim store that was longer than the lease",
                    claim.key(),
                    whose);
            holder.run();
        }
        if (subscription != null) {
            renewer.events.accept(new RenewalEvent.Renewed(subscription, Target.LEASE, result));
            if (result == Result.LOST) {
                renewer.events.accept(new RenewalEvent.ClaimLost(subscription, claim.key()));
            }
        }
    }
}
