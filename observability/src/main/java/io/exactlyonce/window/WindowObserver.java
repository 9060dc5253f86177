package io.exactlyonce.window;

import io.exactlyonce.queue.Subscription;

/**
 * Receives warnings about visibility timeouts. Called by a thread that ends a delivery: it must not block. Its
 * exceptions are logged and otherwise ignored.
 */
@FunctionalInterface
public interface WindowObserver {

    /**
     * Called when p95 is near or beyond the visibility timeout, or has recovered.
     *
     * @param subscription has the visibility timeout as last read
     */
    void warned(Subscription subscription, WindowWarning warning);
}
