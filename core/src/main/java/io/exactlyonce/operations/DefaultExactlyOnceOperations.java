package io.exactlyonce.operations;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.StoredResults;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The operations, on a claim store.
 *
 * @param executions run actions
 * @param claims the parked ones
 * @param results writes the results that operators give
 * @param store checks that claims can be stored; called before each operation, and does nothing once they can
 */
public record DefaultExactlyOnceOperations(
        ActionExecutor executions, ParkedClaims claims, StoredResults results, Runnable store)
        implements ExactlyOnceOperations {

    private static final int LONGEST_LIST = 1_000;

    @Override
    public OnceCall<RuntimeException> once(String scope, String key) {
        return new KeyedCall<>(executions, store, KeyRules.key(scope, key), null, InDoubtSettings.RERUN);
    }

    @Override
    public List<ParkedClaim> parked(int limit) {
        return list(null, limit);
    }

    @Override
    public List<ParkedClaim> parkedAfter(ParkedClaim last, int limit) {
        return list(last, limit);
    }

    private List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        if (limit < 1 || limit > LONGEST_LIST) {
            throw new IllegalArgumentException("limit (%d) must be from 1 to %d".formatted(limit, LONGEST_LIST));
        }
        store.run();
        return claims.list(after, limit);
    }

    @Override
    public Optional<ParkedClaim> findParked(String scope, String key) {
        ClaimKey checked = KeyRules.key(scope, key);
        store.run();
        return claims.find(checked);
    }

    @Override
    public boolean releaseParked(ParkedClaim claim) {
        store.run();
        return claims.release(idOf(claim));
    }

    @Override
    public boolean completeParked(ParkedClaim claim, @Nullable Object result) {
        ClaimResolution.Completed completion =
                new ClaimResolution.Completed(idOf(claim), result == null ? null : results.write(result));
        store.run();
        return claims.complete(completion);
    }

    private static ClaimId idOf(ParkedClaim claim) {
        return new ClaimId(new ClaimKey(claim.scope(), claim.key()), claim.claimId());
    }
}
