package io.exactlyonce.operations;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution.Completed;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.result.StoredResults;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lists the parked keys of the claim store, and applies operators' decisions to them.
 *
 * @param results writes a result as JSON when an operator completes a key with it
 * @param store checks before each operation that the claim store can keep claims, and throws if it cannot. Does nothing
 *     more after its first success
 */
public record DefaultParkedKeys(ParkedClaims claims, StoredResults results, Runnable store) implements ParkedKeys {

    @Override
    public List<ParkedClaim> list(int limit) {
        return page(null, limit);
    }

    @Override
    public List<ParkedClaim> listAfter(ParkedClaim last, int limit) {
        return page(last, limit);
    }

    private List<ParkedClaim> page(@Nullable ParkedClaim after, int limit) {
        if (limit < 1 || limit > MOST) {
            throw new IllegalArgumentException("limit (%d) must be from 1 to %d".formatted(limit, MOST));
        }
        store.run();
        return claims.list(after, limit);
    }

    @Override
    public Optional<ParkedClaim> find(String scope, String key) {
        ClaimKey checked = KeyRules.key(scope, key);
        store.run();
        return claims.find(checked);
    }

    @Override
    public boolean release(ParkedClaim seen) {
        store.run();
        return claims.release(idOf(seen));
    }

    @Override
    public boolean complete(ParkedClaim seen, @Nullable Object result) {
        Completed completion = new Completed(idOf(seen), result == null ? null : results.write(result));
        store.run();
        return claims.complete(completion);
    }

    @Override
    public List<ParkedClaim> releaseAll(Collection<? extends ParkedClaim> seen) {
        return decide(seen, claims::releaseAll);
    }

    @Override
    public List<ParkedClaim> completeAll(Collection<? extends ParkedClaim> seen) {
        return decide(
                seen,
                ids -> claims.completeAll(
                        ids.stream().map(id -> new Completed(id, null)).toList()));
    }

    private List<ParkedClaim> decide(
            Collection<? extends ParkedClaim> seen, Function<List<ClaimId>, Set<ClaimId>> decision) {
        if (seen.size() > MOST) {
            throw new IllegalArgumentException(
                    "%d claims are too many for one call; decide on at most %d at a time".formatted(seen.size(), MOST));
        }
        if (seen.isEmpty()) {
            return List.of();
        }
        store.run();
        Set<ClaimId> decided = decision.apply(
                seen.stream().map(DefaultParkedKeys::idOf).distinct().toList());
        return seen.stream()
                .filter(each -> !decided.contains(idOf(each)))
                .<ParkedClaim>map(Function.identity())
                .toList();
    }

    private static ClaimId idOf(ParkedClaim claim) {
        return new ClaimId(new ClaimKey(claim.scope(), claim.key()), claim.claimId());
    }
}
