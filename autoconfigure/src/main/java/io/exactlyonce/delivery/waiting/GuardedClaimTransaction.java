package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A transaction whose claims tell its transaction manager's circuit breaker whether they are answered. */
public final class GuardedClaimTransaction implements ClaimTransaction {

    private final ClaimTransaction transaction;
    private final StoreCircuitBreaker breaker;

    GuardedClaimTransaction(ClaimTransaction transaction, StoreCircuitBreaker breaker) {
        this.transaction = transaction;
        this.breaker = breaker;
    }

    @Override
    public ClaimOutcome execute(ClaimRequest request, Work work) throws Throwable {
        AtomicBoolean answered = new AtomicBoolean();
        try {
            ClaimOutcome outcome = transaction.execute(request, claim -> {
                answered.set(true);
                breaker.answered();
                return run(claim, work);
            });
            breaker.answered();
            return outcome;
        } catch (ClaimStoreUnavailableException unanswered) {
            if (!answered.get()) {
                breaker.unanswered(unanswered);
            }
            throw unanswered;
        }
    }

    private @Nullable String run(Acquired claim, Work work) throws Throwable {
        breaker.workBegins();
        try {
            return work.run(claim);
        } finally {
            breaker.workEnds();
        }
    }

    /** Returns the breaker of its transaction manager, which all transactions of that manager share. */
    public StoreCircuitBreaker breaker() {
        return breaker;
    }

    @Override
    public String toString() {
        return breaker.toString();
    }
}
