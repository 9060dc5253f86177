package io.exactlyonce.test.interleaving;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.claim.Release;
import io.exactlyonce.test.InMemoryClaimStore;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Passes every call on. */
class WrappedStore implements ClaimStore, ParkedClaims {

    private final InMemoryClaimStore store;

    WrappedStore(InMemoryClaimStore store) {
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

    @Override
    public Map<ClaimKey, KeyState> look(Collection<ClaimKey> keys) {
        return store.look(keys);
    }

    @Override
    public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        return store.list(after, limit);
    }

    @Override
    public Optional<ParkedClaim> find(ClaimKey key) {
        return store.find(key);
    }

    @Override
    public boolean release(ClaimId claim) {
        return store.release(claim);
    }

    @Override
    public boolean complete(Completion completion) {
        return store.complete(completion);
    }
}
