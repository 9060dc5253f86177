package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import org.jspecify.annotations.Nullable;

/** How a handler is called under a claim that was acquired for it. */
@FunctionalInterface
interface HandlerCalls {

    /** Calls the handler, and sees to it that how it went is recorded; returns its result or a future of that. */
    @Nullable Object call(Delivery delivery, ClaimId id, Acquired acquired, DoubtPolicy doubt, DeliveryProcessor.Handler handler)
            throws Throwable;
}
