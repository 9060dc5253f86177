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
 * The lease of one claim. It is renewed until {@link #stopRenewal}, and not beyond SQS's ceiling, because a handler
 * that hangs must not hold its key forever.
 *
 * <p>The loss of a lease stops the handler, once. A lease is lost when the store says so. It is also lost if, at its
 * end by this JVM's monotonic clock, its renewal is failing or unanswered. An expired lease can still be renewed,
 * because only the store decides whether another worker has taken the key over.
 *
 * <p>Not guaranteed: that the lease is still held when the caller acts on {@link #isHeld()}, because the process may
 * pause in between.
 */
public final class Lease extends Renewable {

    private static final Logger log = LoggerFactory.getLogger(Lease.class);

    final ClaimId claim;
    private final @Nullable MessageVisibility visibility;
    private final Runnable holder;

    /**
     * @param visibility of the claim's message; {@code null} if the claim has no message
     * @param holder is stopped if the lease is lost; must not block
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

    /** Returns whether the lease that the store last granted is still valid by this JVM's monotonic clock. */
    public boolean isHeld() {
        return isOn();
    }

    /**
     * Called when the completion starts. The lease is still renewed, because the completion may take long. If a renewal
     * then finds that the claim no longer holds its key, the completion may have come first, so the completion's answer
     * decides.
     */
    public void completing() {
        ending = true;
    }

    /** Stops renewal of the lease: the claim has been completed, released or lost. */
    public void stopRenewal() {
        renewer.leases.remove(this);
        end();
    }

    /** Returns false after a handler's timeout. Then the lease expires, like the message's visibility timeout. */
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
