package io.exactlyonce.delivery.pipeline;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** A listener's own work under the claims of one or more deliveries. */
@FunctionalInterface
public interface Handler {

    /**
     * Does the work.
     *
     * @param claimed the attempts of the deliveries whose keys are held, in their order; at least one
     * @return ends when the work does: with the result of a delivery that came alone; completed already if the work is done
     * @throws Throwable if the work failed; {@link io.exactlyonce.BatchItemFailures} if it failed for some deliveries only
     */
    CompletionStage<?> handle(List<Attempt> claimed) throws Throwable;
}
