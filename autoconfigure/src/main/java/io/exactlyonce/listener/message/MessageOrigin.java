package io.exactlyonce.listener.message;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.permits.HandlerSlots;
import java.util.concurrent.CompletableFuture;

/** Where a message was polled: what a sink needs to know of its queue, and of the slots that limit its handlers. */
public interface MessageOrigin {

    /** Returns, by the redrive policy as it is now, whether the queue hands out the message no more; no if that is not known. */
    CompletableFuture<Boolean> givesUp(Delivery delivery);

    /** Returns what lets handlers of its messages run. */
    HandlerSlots slots();

    /**
     * A message's handler has ended, and its outcome may not be on record yet. Its permit is free already.
     *
     * @param settled completes when the outcome is on record and was acted on
     */
    void recording(CompletableFuture<?> settled);
}
