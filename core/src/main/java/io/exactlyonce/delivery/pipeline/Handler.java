package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Calls the application's handler. */
@FunctionalInterface
public interface Handler {

    /**
     * Calls the handler, on the caller's thread.
     *
     * @param deliveries at least one, in their order. Their keys are claimed
     * @return the handler's result; a {@link CompletionStage} if the work may continue after the method has returned
     * @throws Throwable the handler's exception
     */
    @Nullable Object handle(List<Delivery> deliveries) throws Throwable;
}
