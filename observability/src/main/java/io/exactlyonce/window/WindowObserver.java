package io.exactlyonce.window;

import io.exactlyonce.queue.Subscription;

/**
 * Called when deliveries come near their visibility timeout. Called on the thread that ends a delivery, so an observer
 * must not block. Exceptions of an observer are logged and ignored.
 */
@FunctionalInterface
public interface WindowObserver {

    /**
     * Called when p95 comes near the visibility timeout, exceeds the timeout, or has recovered.
     *
     * @param subscription contains the queue's visibility timeout as last read
     */
    void warned(Subscription subscription, WindowWarning warning);
}
