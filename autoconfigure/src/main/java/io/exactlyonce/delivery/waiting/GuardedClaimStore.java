package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.StoreCalls;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A store whose claims tell a circuit breaker whether it answers; the breaker learns of an answer before the caller. A request
 * that the store refuses for good tells neither.
 */
final class GuardedClaimStore implements AsyncClaimStore {

    private final AsyncClaimStore store;
    private final StoreCircuitBreaker breaker;

    GuardedClaimStore(AsyncClaimStore store, StoreCircuitBreaker breaker) {
        this.store = store;
        this.breaker = breaker;
    }

    @Override
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
        CompletableFuture<List<ClaimOutcome>> answer = new CompletableFuture<>();
        // What depends on a future that failed wraps the failure, and never ends if that does not tell what it is.
        var unused = StoreCalls.begun(() -> store.claimAsync(requests)).handle((outcomes, failure) -> {
            try {
                tell(failure);
            } finally {
                if (failure == null) {
                    answer.complete(outcomes);
                } else {
                    answer.completeExceptionally(failure);
                }
            }
            return answer.isDone();
        });
        return answer;
    }

    private void tell(@Nullable Throwable failure) {
        if (failure == null) {
            breaker.answered();
            return;
        }
        Throwable reason = StoreCalls.unwrap(failure);
        if (!(reason instanceof IllegalArgumentException)) {
            breaker.unanswered(reason);
        }
    }

    @Override
    public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
        return store.endAsync(ends);
    }
}
