package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Calls the application's handler. */
@FunctionalInterface
public interface Handler {

    /**
     * Calls it, on the caller's thread.
     *
     * @param deliveries those whose keys are held, in their order; at least one
     * @return its result; a {@link CompletionStage} if its work may continue after it has returned
     * @throws Throwable what it throws
     */
    @Nullable Object handle(List<Delivery> deliveries) throws Throwable;
}
