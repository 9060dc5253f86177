package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.renewal.RenewalState.Look;
import io.exactlyonce.visibility.Subscription;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The lease of one claim, which is renewed until it is let go, and not beyond a ceiling. Its loss is told as by {@link
 * Renewal}.
 */
public final class RenewedLease {

    private final RenewalSupervisor supervisor;
    private final @Nullable Subscription subscription;
    private final ClaimId claim;
    private final RenewalState state;
    private final long ceiling;
    private final Runnable handler;
    private volatile boolean completing;

    /**
     * Makes a lease.
     *
     * @param supervisor renews it
     * @param subscription whose delivery it is; {@code null} if no message stands behind the claim
     * @param ceiling when it is renewed no more: a handler that hangs must not hold its key for ever
     * @param handler is stopped if the lease is lost
     */
    RenewedLease(
            RenewalSupervisor supervisor,
            @Nullable Subscription subscription,
            ClaimId claim,
            RenewalState state,
            long ceiling,
            Runnable handler) {
        this.supervisor = supervisor;
        this.subscription = subscription;
        this.claim = claim;
        this.state = state;
        this.ceiling = ceiling;
        this.handler = handler;
    }

    @Nullable Subscription subscription() {
        return subscription;
    }

    ClaimId claim() {
        return claim;
    }

    /** Returns whether the lease that the store last granted has not run out by this JVM's monotonic clock. */
    public boolean isHeld() {
        return state.isOn(supervisor.now());
    }

    /**
     * Begins to renew the lease if that is due, also when it is over: only the store knows whether another
     * worker has taken the key over since.
     */
    Optional<LeaseRenewal> attempt(long now) {
        return state.attempt(now) ? Optional.of(new LeaseRenewal(claim, state.length())) : Optional.empty();
    }

    /** The completion has begun: a claim that is found no longer held may just have been completed, which the completion tells. */
    public void completing() {
        completing = true;
    }

    boolean isCompleting() {
        return completing;
    }

    /** Renews the lease no more: the claim has been completed, released or lost. */
    public void letGo() {
        supervisor.forget(this);
    }

    /** Records the store's answer; returns how the attempt ended, which is empty if it does not matter any more. */
    Optional<Result> answered(Set<ClaimId> held, long askedAt) {
        if (held.contains(claim)) {
            return state.succeeded(askedAt, state.length());
        }
        if (completing) {
            state.stop();
            return Optional.empty();
        }
        return state.lost();
    }

    /** Records that the store did not answer; returns what {@link #answered} does. */
    Optional<Result> unanswered(long now, double random) {
        return state.failed(now, random);
    }

    /**
     * Returns whether the lease is to be renewed; it is lost at its ceiling, or if it has ended while its renewal is in
     * doubt.
     */
    Look look(long now) {
        if (now - ceiling < 0) {
            return state.look(now);
        }
        return state.lost().isPresent() ? Look.LOST : Look.NOTHING_TO_DO;
    }

    void leaveToItsEnd() {
        state.leaveToItsEnd();
    }

    void renewAgain() {
        state.renewAgain();
    }

    void tellLost() {
        handler.run();
    }

    void stop() {
        state.stop();
    }
}
