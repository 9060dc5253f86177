package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Takes deliveries to handlers that return futures. What {@link DeliveryProcessor} guarantees holds for them, too: the
 * claim is held, and its completion recorded, until and after the future has ended.
 *
 * <p>A handler that must stop has its future cancelled, once; as long as its method has not returned, its thread is
 * interrupted instead. A future that ends by that alone says nothing about the work behind it, so that its claim is not
 * released, but left to the end of its lease.
 */
public final class AsyncDeliveryProcessor {

    private final DeliveryProcessor processor;
    private final AsyncHandlerCall handlers;

    /**
     * Makes a processor.
     *
     * @param processor does what is the same for all handlers
     * @param completions records outcomes, which blocks for as long as the store is away
     * @param cancellations cancels futures, which may call the application's own code; must not make its caller wait
     */
    public AsyncDeliveryProcessor(DeliveryProcessor processor, Executor completions, Executor cancellations) {
        this.processor = processor;
        this.handlers = new AsyncHandlerCall(processor.handlers(), completions, cancellations);
    }

    /**
     * Handles a delivery, unless its key is completed, held elsewhere or parked, or the store does not answer.
     *
     * @param handler returns a {@link java.util.concurrent.CompletionStage}
     * @return ends when the outcome is recorded; then it has the handler's result, for a duplicate what the handler
     *     replays of it, else {@code null}. It fails as {@link DeliveryProcessor#process} does
     * @throws Throwable what the handler threw before it returned a future
     */
    @SuppressWarnings("unchecked") // The only future among the results is that of our own call.
    public CompletableFuture<@Nullable Object> process(
            Delivery delivery, ClaimSpec handling, DeliveryProcessor.Handler handler) throws Throwable {
        DeliveryProcessor.enter(delivery);
        Object result = null;
        try {
            result = processor.claimAndHandle(delivery, handling, handler, handlers);
        } finally {
            if (!(result instanceof CompletableFuture<?>)) {
                delivery.leave();
            }
        }
        return result instanceof CompletableFuture<?> recorded
                ? (CompletableFuture<@Nullable Object>) recorded
                : CompletableFuture.completedFuture(result);
    }
}
