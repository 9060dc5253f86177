package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** A transaction whose claims tell its transaction manager's circuit breaker whether they are answered. */
public final class GuardedClaimTransaction implements ClaimTransaction {

    private final ClaimTransaction transaction;
    private final StoreCircuitBreaker breaker;

    GuardedClaimTransaction(ClaimTransaction transaction, StoreCircuitBreaker breaker) {
        this.transaction = transaction;
        this.breaker = breaker;
    }

    @Override
    public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
        AtomicBoolean answered = new AtomicBoolean();
        try {
            List<ClaimOutcome> outcomes = transaction.execute(requests, claimed -> {
                answered.set(true);
                breaker.answered();
                return run(claimed, work);
            });
            breaker.answered();
            return outcomes;
        } catch (ClaimStoreUnavailableException unanswered) {
            if (!answered.get()) {
                breaker.unanswered(unanswered);
            }
            throw unanswered;
        }
    }

    @Override
    public boolean isWithin(ClaimId claim) {
        return transaction.isWithin(claim);
    }

    @Override
    public void probe(ClaimRequest request) throws Exception {
        try {
            transaction.probe(request);
            breaker.answered();
        } catch (ClaimStoreUnavailableException unanswered) {
            breaker.unanswered(unanswered);
            throw unanswered;
        }
    }

    private Map<ClaimId, String> run(List<ClaimOutcome> claimed, BatchWork work) throws Exception {
        breaker.workBegins();
        try {
            return work.run(claimed);
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
