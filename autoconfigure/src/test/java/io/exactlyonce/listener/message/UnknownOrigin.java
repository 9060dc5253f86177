package io.exactlyonce.listener.message;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.permits.HandlerSlots;
import java.util.concurrent.CompletableFuture;

/** Judges by the delivery's own receive count, and knows of no permits. */
public final class UnknownOrigin implements MessageOrigin {

    public static final UnknownOrigin INSTANCE = new UnknownOrigin();

    @Override
    public CompletableFuture<Boolean> givesUp(Delivery delivery) {
        return CompletableFuture.completedFuture(delivery.isOnItsLastReceive());
    }

    @Override
    public HandlerSlots slots() {
        return new HandlerSlots(Integer.MAX_VALUE, 0, System::nanoTime);
    }

    @Override
    public void recording(CompletableFuture<?> settled) {}
}
