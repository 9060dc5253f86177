package io.exactlyonce.claim;

import java.util.List;
import java.util.Set;
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
public record ExecutorClaimStore(ClaimStore store, Executor executor, List<Boolean> awaited)
        implements AsyncClaimStore {

    public ExecutorClaimStore(ClaimStore store, Executor executor) {
        this(store, executor, new CopyOnWriteArrayList<>());
    }

    @Override
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests, Runnable asking) {
        return ask(() -> {
            asking.run();
            return store.claim(requests);
        });
    }

    @Override
    public CompletableFuture<Set<ClaimId>> resolveAsync(
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
