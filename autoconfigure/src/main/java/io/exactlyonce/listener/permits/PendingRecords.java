package io.exactlyonce.listener.permits;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;

/**
 * The deliveries of one subscription whose handlers have ended, and whose outcome is not on record yet, and acted on. They hold
 * neither thread nor permit, so that something else has to bound them: a crash would repeat the effects of all of them.
 */
public final class PendingRecords extends UnderWay {

    private final Subscription subscription;
    private final DeliveryObserver observer;

    /**
     * Makes an empty one.
     *
     * @param most how many there may be before the listener stops polling
     */
    public PendingRecords(Subscription subscription, int most, DeliveryObserver observer) {
        super(most);
        this.subscription = subscription;
        this.observer = observer;
    }

    @Override
    void changed(int pending) {
        observer.completing(subscription, pending);
    }
}
