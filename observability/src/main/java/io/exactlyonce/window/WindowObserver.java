package io.exactlyonce.window;

import io.exactlyonce.visibility.Subscription;

/**
 * Learns what is to be told of windows. Called by a thread that ends a delivery: it must not block. What it throws is logged
 * and disturbs nothing.
 */
@FunctionalInterface
public interface WindowObserver {

    /**
     * A breach is ahead, p95 is near the window or beyond it, or it has recovered.
     *
     * @param subscription with the window as it was last read
     */
    void warned(Subscription subscription, WindowWarning warning);
}
