package io.exactlyonce.delivery;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of a handler's work that goes on after its method has returned. It is cancelled once at most.
 *
 * <p>Cancelling completes an ordinary {@link CompletableFuture} at once, whether or not the work heeds it: that such a
 * future has ended says nothing about the work behind it.
 */
public final class FutureRun {

    private static final Logger log = LoggerFactory.getLogger(FutureRun.class);

    private final CompletableFuture<?> future;
    private final Executor cancellations;
    private final AtomicBoolean cancelled = new AtomicBoolean();

    /**
     * Makes a run of what a handler returned.
     *
     * @param returned a stage, or a value of which there is nothing to wait for
     * @param cancellations cancels futures, which calls back the code that waits for them
     */
    public FutureRun(@Nullable Object returned, Executor cancellations) {
        this.future = future(returned);
        this.cancellations = cancellations;
    }

    private static CompletableFuture<?> future(@Nullable Object returned) {
        if (returned instanceof CompletableFuture<?> own) {
            return own;
        }
        if (!(returned instanceof CompletionStage<?> stage)) {
            return CompletableFuture.completedFuture(returned);
        }
        // A stage need not be able to become a future.
        CompletableFuture<@Nullable Object> copy = new CompletableFuture<>();
        stage.whenComplete((result, failure) -> {
            if (failure == null) {
                copy.complete(result);
            } else {
                copy.completeExceptionally(failure);
            }
        });
        return copy;
    }

    /** Cancels the future unless it has ended, on another thread: this one renews other deliveries. */
    void cancel() {
        if (!future.isDone() && cancelled.compareAndSet(false, true)) {
            cancellations.execute(this::cancelFuture);
        }
    }

    private void cancelFuture() {
        try {
            future.cancel(true);
        } catch (RuntimeException failure) {
            log.warn("Cancelling a handler's future failed", failure);
        }
    }

    public boolean wasCancelled() {
        return cancelled.get();
    }

    /** Returns whether the work may go on although its future has failed: all that is known is that we cancelled it. */
    public boolean mayGoOn(Throwable failure) {
        return wasCancelled() && failure instanceof CancellationException;
    }

    /** Calls back with the result or the failure, on whatever thread completes the future. */
    public void whenEnded(BiConsumer<@Nullable Object, @Nullable Throwable> ended) {
        var unused = future.whenComplete((result, failure) -> ended.accept(result, unwrap(failure)));
    }

    private static @Nullable Throwable unwrap(@Nullable Throwable failure) {
        Throwable unwrapped = failure;
        while (unwrapped instanceof CompletionException && unwrapped.getCause() != null) {
            unwrapped = unwrapped.getCause();
        }
        return unwrapped;
    }
}
