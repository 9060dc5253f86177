package io.exactlyonce.renewal;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.renewal.RenewalState.Look;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;

/** Renews the leases that are due in one call of the store, and gives up those that end in doubt. */
final class LeaseRenewer {

    private static final Logger log = LoggerFactory.getLogger(LeaseRenewer.class);

    private final ClaimStore store;
    private final RenewalObserver observer;
    private final Executor executor;
    private final NanoClock clock;
    private final Jitter random;

    /** Whether the failure of an outage is told, so that its further ones take a line each. */
    private volatile boolean isTold;

    LeaseRenewer(ClaimStore store, RenewalObserver observer, Executor executor, NanoClock clock, Jitter random) {
        this.store = store;
        this.observer = observer;
        this.executor = executor;
        this.clock = clock;
        this.random = random;
    }

    /** Counts as lost the leases that end in doubt; returns whether a renewal is due. */
    boolean look(Collection<RenewedLease> leases, long now) {
        boolean anyDue = false;
        for (RenewedLease lease : leases) {
            Look found = lease.look(now);
            anyDue |= found == Look.DUE;
            if (found == Look.LOST) {
                tell(lease, Result.LOST);
            }
        }
        return anyDue;
    }

    /** Renews what is due, and with it what is nearly due. */
    void renew(Collection<RenewedLease> leases, long now) {
        List<RenewedLease> due = new ArrayList<>();
        List<LeaseRenewal> renewals = new ArrayList<>();
        for (RenewedLease lease : leases) {
            lease.attempt(now).ifPresent(renewal -> {
                due.add(lease);
                renewals.add(renewal);
            });
        }
        if (due.isEmpty()) {
            return;
        }
        try {
            executor.execute(() -> Boundary.guard(
                    "A renewal of leases", () -> send(due, renewals), crash -> answer(due, this::unanswered)));
        } catch (RejectedExecutionException stopped) {
            answer(due, this::unanswered);
        }
    }

    private void send(List<RenewedLease> due, List<LeaseRenewal> renewals) {
        long askedAt = clock.nanoTime();
        try {
            Set<ClaimId> held = store.renew(renewals);
            isTold = false;
            answer(due, lease -> lease.answered(held, askedAt));
        } catch (ClaimsPartlyAnsweredException some) {
            answer(
                    due,
                    lease -> some.unanswered().contains(lease.claim())
                            ? unanswered(lease)
                            : lease.answered(some.granted(), askedAt));
            log.warn(
                    "Renewing {} of {} leases failed; they are tried again while they last",
                    some.unanswered().size(),
                    due.size(),
                    some);
        } catch (RuntimeException failure) {
            answer(due, this::unanswered);
            if (isTold) {
                log.warn(
                        "Renewing {} leases failed; they are tried again while they last: {}",
                        due.size(),
                        NestedExceptionUtils.getMostSpecificCause(failure).toString());
            } else {
                log.warn("Renewing {} leases failed; they are tried again while they last", due.size(), failure);
            }
            isTold = true;
        }
    }

    private Optional<Result> unanswered(RenewedLease lease) {
        return lease.unanswered(clock.nanoTime(), random.next());
    }

    private void answer(List<RenewedLease> due, Function<RenewedLease, Optional<Result>> answer) {
        due.forEach(lease -> answer.apply(lease).ifPresent(result -> tell(lease, result)));
    }

    private void tell(RenewedLease lease, Result result) {
        Subscription subscription = lease.subscription();
        Object holder = subscription == null ? "a call of ExactlyOnceOperations" : subscription;
        if (result == Result.LOST && lease.isCompleting()) {
            log.warn(
                    "The lease on {} of {} is over, and the completion of its claim is not answered yet. It is recorded unless"
                            + " another worker has taken the key over",
                    lease.claim().key(),
                    holder);
            return;
        }
        if (result == Result.LOST) {
            log.error(
                    "The claim on {} of {} is lost: its handler is interrupted, and its result discarded. Look for"
                            + " a pause or an outage of the claim store that was longer than the lease",
                    lease.claim().key(),
                    holder);
            lease.tellLost();
        }
        if (subscription != null) {
            observer.renewed(subscription, Target.LEASE, result);
            if (result == Result.LOST) {
                observer.claimLost(subscription, lease.claim().key());
            }
        }
    }
}
