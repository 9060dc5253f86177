package io.exactlyonce.renewal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A change of a message's visibility that its handler asks for itself. */
final class HandlerChoice {

    private HandlerChoice() {}

    /**
     * Sends the change, and has the window last for as long as the handler wants if the queue accepts it.
     *
     * @param span whose attempt this is
     * @param begun before the request
     */
    static CompletableFuture<Void> send(
            RenewalState span, long begun, Duration wanted, Supplier<CompletableFuture<Void>> request) {
        return send(request).whenComplete((ignored, failure) -> {
            if (failure == null) {
                span.chosen(begun, wanted);
            } else {
                span.notChosen();
            }
        });
    }

    private static CompletableFuture<Void> send(Supplier<CompletableFuture<Void>> request) {
        try {
            return request.get();
        } catch (RuntimeException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }
}
