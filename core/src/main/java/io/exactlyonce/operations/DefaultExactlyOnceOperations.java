package io.exactlyonce.operations;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.fingerprint.Content;
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
 * @param doubt policy for keys in doubt
 */
public record DefaultExactlyOnceOperations(
        ActionExecutor executions, ParkedClaims claims, StoredResults results, Runnable store, InDoubtSettings doubt)
        implements ExactlyOnceOperations {

    private static final int LONGEST_LIST = 1_000;

    @Override
    public ExactlyOnceOperations whenInDoubt(InDoubtPolicy policy) {
        if (policy == InDoubtPolicy.RECONCILE) {
            throw new IllegalArgumentException(
                    "whenInDoubt (RECONCILE) must be RERUN or PARK: with RERUN, an action can check "
                            + "claim.isInDoubt() and reconcile by itself");
        }
        return new DefaultExactlyOnceOperations(
                executions, claims, results, store, new InDoubtSettings(policy, null, List.of()));
    }

    @Override
    public <T, X extends Throwable> @Nullable T execute(String scope, String key, Class<T> type, Action<T, X> action)
            throws X {
        return execute(scope, key, null, type, action);
    }

    @Override
    public <T, X extends Throwable> @Nullable T execute(
            String scope, String key, @Nullable String payload, Class<T> type, Action<T, X> action) throws X {
        ClaimKey checked = KeyRules.key(scope, key);
        store.run();
        return executions.execute(
                new ClaimSpec(checked, payload == null ? null : Content.ofBody(payload), doubt), type, action);
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
