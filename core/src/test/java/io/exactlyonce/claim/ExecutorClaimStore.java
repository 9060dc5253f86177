package io.exactlyonce.claim;

import io.exactlyonce.time.NanoClock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * An asynchronous store that runs each call of a blocking store on an executor. The executor of a test decides when a
 * call is answered. An executor that rejects tasks behaves like a closed group commit.
 *
 * @param awaited records for each call with resolutions whether a caller waits for it
 */
public record ExecutorClaimStore(ClaimStore store, Executor executor, NanoClock clock, List<Boolean> awaited)
        implements AsyncClaimStore {

    public ExecutorClaimStore(ClaimStore store, Executor executor, NanoClock clock) {
        this(store, executor, clock, new CopyOnWriteArrayList<>());
    }

    @Override
    public CompletableFuture<Claimed> claimAsync(List<ClaimRequest> requests) {
        return ask(() -> {
            long askedAt = clock.nanoTime();
            return new Claimed(store.claim(requests), askedAt);
        });
    }

    @Override
    public CompletableFuture<ClaimAnswers> resolveAsync(
            List<? extends ClaimResolution> resolutions, boolean isAwaited) {
        awaited.add(isAwaited);
        return ask(() -> store.resolve(resolutions));
    }

    private <T> CompletableFuture<T> ask(Supplier<T> call) {
        try {
            return CompletableFuture.supplyAsync(call, executor);
        } catch (RejectedExecutionException stopped) {
            return CompletableFuture.failedFuture(new ClaimStoreBusyException(stopped.getMessage()));
        }
    }
}
