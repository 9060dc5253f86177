package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Does for calls that do not wait what {@link GuardedClaimStore} does: the breaker learns of an answer before its caller. */
final class GuardedAsyncClaimStore implements AsyncClaimStore {

    private final AsyncClaimStore store;
    private final StoreCircuitBreaker breaker;

    GuardedAsyncClaimStore(AsyncClaimStore store, StoreCircuitBreaker breaker) {
        this.store = store;
        this.breaker = breaker;
    }

    @Override
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
        return store.claimAsync(requests).whenComplete((outcomes, failure) -> tell(failure));
    }

    private void tell(@Nullable Throwable failure) {
        if (failure == null) {
            breaker.answered();
        } else if (!(failure instanceof IllegalArgumentException)) {
            breaker.unanswered(failure);
        }
    }

    @Override
    public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
        return store.endAsync(ends);
    }
}
