package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.test.InMemoryClaimStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Keeps the last claim of each key, so that a broken store can write in the owner's name. */
class HolderWatch extends WrappedStore {

    private final Map<ClaimKey, ClaimId> holders = new HashMap<>();

    HolderWatch(InMemoryClaimStore store) {
        super(store);
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        List<ClaimOutcome> outcomes = super.claim(requests);
        for (int i = 0; i < requests.size(); i++) {
            if (outcomes.get(i) instanceof Acquired) {
                holders.put(requests.get(i).key(), requests.get(i).id());
            }
        }
        return outcomes;
    }

    Optional<ClaimId> holder(ClaimKey key) {
        return Optional.ofNullable(holders.get(key));
    }

    /** Writes in the name of each key's owner. Returns the calling claims whose write changed something. */
    <T> Set<ClaimId> write(
            List<T> writes, Function<T, ClaimId> claim, BiFunction<T, ClaimId, Set<ClaimId>> inTheNameOf) {
        return writes.stream()
                .filter(write -> {
                    ClaimId holder = holders.getOrDefault(claim.apply(write).key(), claim.apply(write));
                    return inTheNameOf.apply(write, holder).contains(holder);
                })
                .map(claim)
                .collect(Collectors.toSet());
    }
}
