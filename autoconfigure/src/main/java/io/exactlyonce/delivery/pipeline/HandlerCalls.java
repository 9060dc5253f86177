package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.InDoubtPolicy;
import org.jspecify.annotations.Nullable;

/** How a handler is called under a claim that was acquired for it. */
@FunctionalInterface
interface HandlerCalls {

    /** Calls the handler, and sees to it that how it went is recorded; returns its result or a future of that. */
    @Nullable Object call(
            Delivery delivery, ClaimId id, Acquired acquired, InDoubtPolicy doubt, DeliveryProcessor.Handler handler)
            throws Throwable;
}
