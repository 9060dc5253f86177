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
 * The lease of one claim: the time for which the claim holds its key. The lease is renewed until {@link #stopRenewal},
 * for 12 h at most, because a handler that hangs must not hold its key forever.
 *
 * <p>If the lease is lost, the handler is stopped, unless its claim is already being completed. A lease counts as lost
 * in these cases:
 * <ul>
 * <li>The store reports that the claim no longer holds its key.
 * <li>Renewals fail until shortly before the lease's end.
 * <li>A renewal is not answered before the lease's end.
 * <li>The handler has exceeded its timeout, so the lease is no longer renewed, and is about to end.
 * <li>The 12 h are over.
 * </ul>
 *
 * <p>A renewal may reach the store after the lease's end. It succeeds if no other worker has taken the key over.
 *
 * <p>The lease may expire right after {@link #isHeld()} has returned true, for example during a pause of the process.
 */
public final class Lease extends Renewable {

    private static final Logger log = LoggerFactory.getLogger(Lease.class);

    final ClaimId claim;
    private final @Nullable MessageVisibility visibility;
    private final Runnable holder;

    /**
     * @param visibility visibility timeout of the claim's message; {@code null} if the claim has no message
     * @param holder called if the lease is lost, to stop the handler; must not block
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

    /** Returns whether the lease is still valid, as far as this JVM knows. */
    public boolean isHeld() {
        return isOn();
    }

    /**
     * Called when the completion of the claim starts. Renewals continue, because the completion may take long. A
     * completed claim no longer holds its key, so the store may now reject a renewal. This is not reported as a lost
     * claim.
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
     * Returns whether the lease is to be renewed. After the handler's timeout, lease and visibility timeout are left to
     * expire.
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
