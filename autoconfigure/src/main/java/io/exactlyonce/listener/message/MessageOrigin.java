package io.exactlyonce.listener.message;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.permits.HandlerSlots;
import java.util.concurrent.CompletableFuture;

/** Where a message was polled: what a sink needs to know of its queue, and of the permits that limit its polls. */
public interface MessageOrigin {

    /** Returns, by the redrive policy as it is now, whether the queue hands out the message no more; no if that is not known. */
    CompletableFuture<Boolean> givesUp(Delivery delivery);

    /**
     * Takes a permit again that was released while its message waited. It may be in use for another
     * message by then: the next one that is released counts as it.
     *
     * @return completes when the message may go on; its permit is released at its end, as always
     */
    CompletableFuture<?> takePermitBack();

    /** Returns what lets handlers of its messages run. */
    HandlerSlots slots();

    /**
     * A message's handler has ended, and its outcome may not be on record yet. Its permit is free already.
     *
     * @param settled completes when the outcome is on record and was acted on
     */
    void recording(CompletableFuture<?> settled);
}
