package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.claim.Release;
import java.util.List;
import java.util.Set;

/** Passes every call on. */
class WrappedStore implements ClaimStore {

    private final ClaimStore store;

    WrappedStore(ClaimStore store) {
        this.store = store;
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return store.claim(requests);
    }

    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> renewals) {
        return store.renew(renewals);
    }

    @Override
    public Set<ClaimId> complete(List<Completion> completions) {
        return store.complete(completions);
    }

    @Override
    public Set<ClaimId> release(List<Release> releases) {
        return store.release(releases);
    }

    @Override
    public Set<ClaimId> park(List<Parking> parkings) {
        return store.park(parkings);
    }
}
