package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A store whose claims tell a circuit breaker whether it answers. A request that it refuses for good tells neither. */
final class GuardedClaimStore implements ClaimStore {

    private final ClaimStore store;
    private final StoreCircuitBreaker breaker;

    GuardedClaimStore(ClaimStore store, StoreCircuitBreaker breaker) {
        this.store = store;
        this.breaker = breaker;
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        try {
            List<ClaimOutcome> outcomes = store.claim(requests);
            breaker.answered();
            return outcomes;
        } catch (IllegalArgumentException refused) {
            throw refused;
        } catch (RuntimeException failure) {
            breaker.unanswered(failure);
            throw failure;
        }
    }

    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> renewals) {
        return store.renew(renewals);
    }

    @Override
    public Set<ClaimId> end(List<? extends ClaimEnd> ends) {
        return store.end(ends);
    }

    @Override
    public boolean fence(ClaimId claim) {
        return store.fence(claim);
    }

    @Override
    public Map<ClaimKey, KeyState> look(Collection<ClaimKey> keys) {
        return store.look(keys);
    }
}
