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
 * One claim's lease. It is renewed until {@link #stopRenewal}, and not beyond SQS's ceiling: a handler that hangs must
 * not hold its key forever. Its loss stops the handler once, at the latest when it ends by this JVM's monotonic clock
 * and its renewal is failing or unanswered. An expired lease is also renewed: only the store decides whether another
 * worker has taken the key over since.
 *
 * <p>Not guaranteed: that the lease is still held when the caller acts on {@link #isHeld()}; a pause may lie between.
 */
public final class Lease extends Renewable {

    private static final Logger log = LoggerFactory.getLogger(Lease.class);

    final ClaimId claim;
    private final @Nullable Window window;
    private final Runnable holder;

    /**
     * @param window of the delivery that it belongs to; {@code null} if no message stands behind the claim
     * @param holder is stopped if the lease is lost; must not block
     */
    Lease(Renewer renewer, @Nullable Window window, ClaimId claim, Duration length, long askedAt, Runnable holder) {
        super(renewer, length, window == null ? askedAt : window.begun, askedAt);
        this.window = window;
        this.claim = claim;
        this.holder = holder;
    }

    /** Returns whether the lease that the store last granted is still valid by this JVM's monotonic clock. */
    public boolean isHeld() {
        return isOn();
    }

    /**
     * Called when the completion starts. The lease is still renewed, because the completion may take long. A renewal that finds the claim
     * no longer held may have come after the completion, so the completion's answer decides.
     */
    public void completing() {
        ending = true;
    }

    /** Stops renewal of the lease: the claim has been completed, released or lost. */
    public void stopRenewal() {
        renewer.leases.remove(this);
        end();
    }

    /** Returns false after a handler's timeout: the lease then expires, as does the message's visibility timeout. */
    @Override
    boolean isKept() {
        return window == null ? renewer.schedule.enabled() : window.isKept();
    }

    @Override
    void report(Result result) {
        Subscription subscription = window == null ? null : window.subscription;
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
