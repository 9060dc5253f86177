package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreBusyException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/** A store that makes its callers wait, asked on threads of an executor: each call goes to the store alone. */
public final class ExecutorClaimStore implements AsyncClaimStore {

    private final ClaimStore store;
    private final Executor executor;

    /**
     * @param store what answers
     * @param executor waits for it; as many calls as it has threads go to the store at a time
     */
    public ExecutorClaimStore(ClaimStore store, Executor executor) {
        this.store = store;
        this.executor = executor;
    }

    @Override
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
        return ask(() -> store.claim(requests));
    }

    @Override
    public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
        return ask(() -> store.end(ends));
    }

    private <T> CompletableFuture<T> ask(Supplier<T> call) {
        try {
            return CompletableFuture.supplyAsync(call, executor);
        } catch (RejectedExecutionException stopped) {
            return CompletableFuture.failedFuture(new ClaimStoreBusyException(
                    "Nothing was asked of the store, for its threads take no more: " + stopped.getMessage()));
        }
    }
}
