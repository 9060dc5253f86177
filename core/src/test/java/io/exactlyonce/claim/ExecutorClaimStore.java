package io.exactlyonce.claim;

import io.exactlyonce.time.NanoClock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * A store that makes its callers wait, asked on an executor's threads, each call alone: so that a test decides when it answers.
 * An executor that takes no more stands for a front that is closed.
 *
 * @param awaited notes of each call that ends claims whether it is awaited
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
