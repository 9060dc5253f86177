package io.exactlyonce.window;

import io.exactlyonce.queue.Subscription;

/**
 * Receives warnings about visibility timeouts. The thread that ends a delivery calls the observer, so an observer must
 * not block. An exception of an observer is logged, and has no other effect.
 */
@FunctionalInterface
public interface WindowObserver {

    /**
     * Called when p95 comes near the visibility timeout, exceeds the timeout, or has recovered.
     *
     * @param subscription the listener's subscription, whose settings contain the visibility timeout as last read
     */
    void warned(Subscription subscription, WindowWarning warning);
}
