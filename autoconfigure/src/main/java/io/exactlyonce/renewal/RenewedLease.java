package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.visibility.Subscription;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The lease of one claim. */
final class RenewedLease {

    private final @Nullable Subscription subscription;
    private final ClaimId claim;
    private final RenewalState span;
    private final long ceiling;
    private final Runnable onLost;
    private volatile boolean ending;

    /**
     * Makes a lease.
     *
     * @param subscription whose delivery it is; {@code null} if no message stands behind the claim
     * @param ceiling when it is renewed no more: a handler that hangs must not hold its key for ever
     */
    RenewedLease(@Nullable Subscription subscription, ClaimId claim, RenewalState span, long ceiling, Runnable onLost) {
        this.subscription = subscription;
        this.claim = claim;
        this.span = span;
        this.ceiling = ceiling;
        this.onLost = onLost;
    }

    @Nullable Subscription subscription() {
        return subscription;
    }

    ClaimId claim() {
        return claim;
    }

    void announce() {
        span.announce();
        span.announce(ceiling);
    }

    boolean isDue(long now) {
        return span.isDue(now);
    }

    boolean isHeld(long now) {
        return span.isOn(now);
    }

    /**
     * Begins to renew the lease if that is due, also when it is over: only the store knows whether somebody has taken
     * the key over since.
     */
    Optional<LeaseRenewal> attempt(long now) {
        return span.attempt(now) ? Optional.of(new LeaseRenewal(claim, span.length())) : Optional.empty();
    }

    /** From now on, a claim that is not held any more may just have been completed: the completion tells. */
    void ending() {
        ending = true;
    }

    /** Records the store's answer; returns how the attempt ended, or {@code null} if nobody waits for it any more. */
    @Nullable Result answered(Set<ClaimId> held, long begun) {
        if (held.contains(claim)) {
            return span.succeeded(begun, span.length());
        }
        if (ending) {
            span.stop();
            return null;
        }
        return span.lost();
    }

    /** Records that the store did not answer; returns what {@link #answered} does. */
    @Nullable Result unanswered(long now, double random) {
        return span.failed(now, random);
    }

    /** Loses the lease at its ceiling, or if it has ended while its renewal is failing, unanswered or not wanted. */
    boolean loseIfInDoubt(long now) {
        return now - ceiling >= 0 ? span.lost() != null : span.loseIfInDoubt(now);
    }

    void leaveToItsEnd() {
        span.leaveToItsEnd();
    }

    void renewAgain() {
        span.renewAgain();
    }

    void tellLost() {
        onLost.run();
    }

    void stop() {
        span.stop();
    }
}
