package io.exactlyonce.window;

import io.exactlyonce.queue.Subscription;

/**
 * Receives warnings about visibility timeouts. The thread that ends a delivery makes the call, so an observer must not
 * block. Exceptions of an observer are logged and otherwise ignored.
 */
@FunctionalInterface
public interface WindowObserver {

    /**
     * Called when p95 is near or beyond the visibility timeout, or has recovered.
     *
     * @param subscription the subscription, with the visibility timeout as last read
     */
    void warned(Subscription subscription, WindowWarning warning);
}
