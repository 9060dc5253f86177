package io.exactlyonce.test.interleaving;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.InMemoryClaimStore;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A store that forwards every call. */
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
    public ClaimAnswers renew(List<LeaseRenewal> renewals) {
        return store.renew(renewals);
    }

    /** Sends the resolutions of each kind to a separate method, so that a broken store can override this method. */
    @Override
    public final ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
        Set<ClaimId> recorded = new HashSet<>(complete(of(ClaimResolution.Completed.class, resolutions)));
        recorded.addAll(release(of(ClaimResolution.Released.class, resolutions)));
        recorded.addAll(park(of(ClaimResolution.Parked.class, resolutions)));
        return new ClaimAnswers(recorded);
    }

    private static <E extends ClaimResolution> List<E> of(Class<E> kind, List<? extends ClaimResolution> resolutions) {
        return resolutions.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    public Set<ClaimId> complete(List<ClaimResolution.Completed> completions) {
        return store.resolve(completions).granted();
    }

    public Set<ClaimId> release(List<ClaimResolution.Released> releases) {
        return store.resolve(releases).granted();
    }

    public Set<ClaimId> park(List<ClaimResolution.Parked> parkings) {
        return store.resolve(parkings).granted();
    }

    @Override
    public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        return store.peek(keys);
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
    public Set<ClaimId> releaseAll(Collection<ClaimId> claims) {
        return store.releaseAll(claims);
    }

    @Override
    public Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions) {
        return store.completeAll(completions);
    }
}
