package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A circuit breaker for each way on which claims are made: the claim store, and each of the application's transaction
 * managers. Each has connections of its own, so that one may fail while the rest work: a failure pauses the listeners
 * that claim on the same way, and no further ones, until a claim on that very way is answered.
 */
public final class StoreCircuitBreakers {

    private final DeliveryObserver observer;
    private final StoreCircuitBreaker claims;
    private final Map<String, GuardedClaimTransaction> managers = new ConcurrentHashMap<>();
    private final Map<Subscription, StoreCircuitBreaker> subscribed = new ConcurrentHashMap<>();

    /**
     * Makes the claim store's; the transaction managers' follow with their transactions.
     *
     * @param observer learns which subscriptions are paused
     */
    public StoreCircuitBreakers(DeliveryObserver observer) {
        this.observer = observer;
        this.claims = new StoreCircuitBreaker(observer);
    }

    /**
     * Returns a transaction whose claims tell its manager's breaker whether they are answered.
     *
     * @param manager the transaction manager's name: one for each
     */
    public ClaimTransaction guard(ClaimTransaction transaction, String manager) {
        StoreCircuitBreaker breaker = managers.computeIfAbsent(
                        manager,
                        name -> new GuardedClaimTransaction(transaction, new StoreCircuitBreaker(name, observer)))
                .breaker();
        return new GuardedClaimTransaction(transaction, breaker);
    }

    /**
     * Returns the breaker of a listener.
     *
     * @param transaction in which its handler runs together with its claim; {@code null} if it claims through the store
     */
    public StoreCircuitBreaker of(@Nullable ClaimTransaction transaction) {
        return transaction instanceof GuardedClaimTransaction guarded ? guarded.breaker() : claims;
    }

    /** A listener begins to poll as its breaker permits. */
    public void subscribe(Subscription subscription, @Nullable ClaimTransaction transaction) {
        StoreCircuitBreaker breaker = of(transaction);
        subscribed.put(subscription, breaker);
        breaker.subscribe(subscription);
    }

    /** A listener has stopped. */
    public void unsubscribe(Subscription subscription) {
        StoreCircuitBreaker breaker = subscribed.remove(subscription);
        if (breaker != null) {
            breaker.unsubscribe(subscription);
        }
    }

    /** Returns the breaker of the way on which a waiting delivery is claimed. */
    StoreCircuitBreaker of(WaitingDelivery waiting) {
        return subscribed.getOrDefault(waiting.delivery().subscription(), claims);
    }

    /** Returns the claim store's breaker. */
    public StoreCircuitBreaker claims() {
        return claims;
    }

    /** Returns one transaction of each manager, to probe it with. */
    Collection<GuardedClaimTransaction> transactions() {
        return managers.values();
    }
}
