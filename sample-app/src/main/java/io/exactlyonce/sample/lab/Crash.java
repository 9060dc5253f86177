package io.exactlyonce.sample.lab;

import io.exactlyonce.sample.provider.ProviderObserver;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Kills one worker in the middle of a handler. A condition decides, and not the time: the order is charged, and its
 * slow confirmation has just started, so nothing is recorded or acknowledged.
 */
final class Crash implements ProviderObserver {

    private final int afterOrders;
    private final Predicate<String> isSlow;
    private final Killer killer;
    private final AtomicInteger seen = new AtomicInteger();
    private final AtomicBoolean done = new AtomicBoolean();

    /**
     * @param afterOrders the number of confirmations before the kill, so that all workers are busy
     * @param isSlow whether an order's handler runs long enough to be killed in its middle
     */
    Crash(int afterOrders, Predicate<String> isSlow, Killer killer) {
        this.afterOrders = afterOrders;
        this.isSlow = isSlow;
        this.killer = killer;
    }

    @Override
    public void confirmationRequested(String orderId, String worker) {
        if (seen.incrementAndGet() > afterOrders && isSlow.test(orderId) && done.compareAndSet(false, true)) {
            killer.kill(worker, orderId);
        }
    }

    /** Kills a worker. */
    @FunctionalInterface
    interface Killer {

        void kill(String worker, String orderId);
    }
}
