package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The ways on which claims are made, each with a gate of its own: the claim store, and the application's transaction
 * managers. Each has connections of its own, so that one may fail while the others work: a failure pauses the listeners
 * that claim on the same way, and no others, until a claim on that very way is answered.
 */
public final class StoreGates {

    private final DeliveryObserver observer;
    private final StoreGate claims;
    private final Map<String, GuardedClaimTransaction> managers = new ConcurrentHashMap<>();
    private final Map<Subscription, StoreGate> subscribed = new ConcurrentHashMap<>();

    /** @param observer learns which subscriptions are paused */
    public StoreGates(DeliveryObserver observer) {
        this.observer = observer;
        this.claims = new StoreGate(observer);
    }

    /** Returns a store whose claims tell the gate of the claim store whether the original answers. */
    public ClaimStore guard(ClaimStore store) {
        return claims.guard(store);
    }

    /**
     * Returns a transaction whose claims tell its manager's gate whether they are answered.
     *
     * @param manager the transaction manager's name: one for each
     */
    public ClaimTransaction guard(ClaimTransaction transaction, String manager) {
        StoreGate gate = managers.computeIfAbsent(
                        manager, name -> new GuardedClaimTransaction(transaction, new StoreGate(name, observer)))
                .gate();
        return new GuardedClaimTransaction(transaction, gate);
    }

    /**
     * Returns the gate of a listener.
     *
     * @param transaction in which its handler runs together with its claim; {@code null} if it claims through the store
     */
    public StoreGate of(@Nullable ClaimTransaction transaction) {
        return transaction instanceof GuardedClaimTransaction guarded ? guarded.gate() : claims;
    }

    /** A listener begins to poll as its gate allows. */
    public void subscribe(Subscription subscription, @Nullable ClaimTransaction transaction) {
        StoreGate gate = of(transaction);
        subscribed.put(subscription, gate);
        gate.subscribe(subscription);
    }

    /** A listener has stopped. */
    public void unsubscribe(Subscription subscription) {
        StoreGate gate = subscribed.remove(subscription);
        if (gate != null) {
            gate.unsubscribe(subscription);
        }
    }

    StoreGate of(WaitingDelivery waiter) {
        return subscribed.getOrDefault(waiter.delivery().subscription(), claims);
    }

    public StoreGate claims() {
        return claims;
    }

    /** Returns a transaction of each manager. */
    Collection<GuardedClaimTransaction> transactions() {
        return managers.values();
    }
}
