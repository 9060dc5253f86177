package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Renews the leases that are due in one call of the store, and gives up those that end in doubt. */
final class LeaseRenewer {

    private static final Logger log = LoggerFactory.getLogger(LeaseRenewer.class);

    private final ClaimStore store;
    private final RenewalObserver observer;
    private final Executor executor;
    private final NanoClock clock;
    private final Jitter random;

    LeaseRenewer(ClaimStore store, RenewalObserver observer, Executor executor, NanoClock clock, Jitter random) {
        this.store = store;
        this.observer = observer;
        this.executor = executor;
        this.clock = clock;
        this.random = random;
    }

    /** Renews what is due, if anything is, and with it what is nearly due. */
    void renewDue(Collection<RenewedLease> leases, long now) {
        if (leases.stream().anyMatch(lease -> lease.isDue(now))) {
            renew(leases, now);
        }
    }

    private void renew(Collection<RenewedLease> leases, long now) {
        List<RenewedLease> due = new ArrayList<>();
        List<LeaseRenewal> renewals = new ArrayList<>();
        for (RenewedLease lease : leases) {
            lease.attempt(now).ifPresent(renewal -> {
                due.add(lease);
                renewals.add(renewal);
            });
        }
        try {
            executor.execute(() -> send(due, renewals));
        } catch (RejectedExecutionException stopping) {
            due.forEach(lease -> tell(lease, lease.unanswered(clock.nanoTime(), random.next())));
        }
    }

    private void send(List<RenewedLease> due, List<LeaseRenewal> renewals) {
        long begun = clock.nanoTime();
        try {
            Set<ClaimId> held = store.renew(renewals);
            due.forEach(lease -> tell(lease, lease.answered(held, begun)));
        } catch (ClaimsPartlyAnsweredException some) {
            log.warn("Renewing {} of {} leases failed", some.unanswered().size(), due.size(), some);
            due.forEach(lease -> tell(lease, answered(lease, some, begun)));
        } catch (RuntimeException failure) {
            log.warn("Renewing {} leases failed", due.size(), failure);
            due.forEach(lease -> tell(lease, lease.unanswered(clock.nanoTime(), random.next())));
        }
    }

    private @Nullable Result answered(RenewedLease lease, ClaimsPartlyAnsweredException some, long begun) {
        return some.unanswered().contains(lease.claim())
                ? lease.unanswered(clock.nanoTime(), random.next())
                : lease.answered(some.granted(), begun);
    }

    void loseInDoubt(Collection<RenewedLease> leases, long now) {
        for (RenewedLease lease : leases) {
            if (lease.loseIfInDoubt(now)) {
                tell(lease, Result.LOST);
            }
        }
    }

    private void tell(RenewedLease lease, @Nullable Result result) {
        if (result == null) {
            return;
        }
        Subscription subscription = lease.subscription();
        if (result == Result.LOST) {
            log.error(
                    "The claim on {} is lost to {}",
                    lease.claim().key(),
                    subscription == null ? "a call of ExactlyOnceOperations" : subscription);
            lease.tellLost();
        }
        if (subscription != null) {
            observer.renewed(subscription, Target.LEASE, result);
        }
    }
}
