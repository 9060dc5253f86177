package io.exactlyonce.delivery;

import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifies all observers. If an observer throws, its exception is logged, and the delivery continues. */
public final class DeliveryObservers implements DeliveryObserver {

    private static final Logger log = LoggerFactory.getLogger(DeliveryObservers.class);

    private final List<DeliveryObserver> observers;
    private final LongAdder failures = new LongAdder();

    public DeliveryObservers(List<? extends DeliveryObserver> observers) {
        this.observers = List.copyOf(observers);
    }

    @Override
    public void subscribed(Subscription subscription) {
        observers.forEach(observer -> shield(observer, () -> observer.subscribed(subscription)));
    }

    @Override
    public void changed(Subscription subscription) {
        observers.forEach(observer -> shield(observer, () -> observer.changed(subscription)));
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        observers.forEach(observer -> shield(observer, () -> observer.unsubscribed(subscription)));
    }

    @Override
    public void on(DeliveryEvent event) {
        for (DeliveryObserver observer : observers) {
            try {
                observer.on(event);
            } catch (Throwable failure) {
                failed(observer, failure);
            }
        }
    }

    @Override
    public void on(RenewalEvent event) {
        observers.forEach(observer -> shield(observer, () -> observer.on(event)));
    }

    @Override
    public ClaimScope claiming(List<Delivery> deliveries) {
        List<ClaimScope> scopes = new ArrayList<>(observers.size());
        for (DeliveryObserver observer : observers) {
            shield(observer, () -> {
                ClaimScope scope = observer.claiming(deliveries);
                if (scope != ClaimScope.NONE) {
                    scopes.add(scope);
                }
            });
        }
        return scopes.isEmpty()
                ? ClaimScope.NONE
                : (outcomes, failure) -> scopes.forEach(scope -> shield(scope, () -> scope.end(outcomes, failure)));
    }

    @Override
    public HandlerScope handling(List<Delivery> deliveries) {
        List<HandlerScope> scopes = new ArrayList<>(observers.size());
        for (DeliveryObserver observer : observers) {
            shield(observer, () -> {
                HandlerScope scope = observer.handling(deliveries);
                if (scope != HandlerScope.NONE) {
                    scopes.add(0, scope);
                }
            });
        }
        return scopes.isEmpty() ? HandlerScope.NONE : new Scopes(scopes);
    }

    /** Notifies several observers of one handler call, the last observer first. */
    private final class Scopes implements HandlerScope {

        private final List<HandlerScope> scopes;

        Scopes(List<HandlerScope> scopes) {
            this.scopes = scopes;
        }

        @Override
        public void leave() {
            scopes.forEach(scope -> shield(scope, scope::leave));
        }

        @Override
        public void end(@Nullable Throwable failure) {
            scopes.forEach(scope -> shield(scope, () -> scope.end(failure)));
        }
    }

    /** Returns how often observers have thrown exceptions. */
    public long failures() {
        return failures.sum();
    }

    private void shield(Object observer, Runnable notification) {
        try {
            notification.run();
        } catch (Throwable failure) {
            failed(observer, failure);
        }
    }

    private void failed(Object observer, Throwable failure) {
        failures.increment();
        log.warn("{} failed; the delivery continues", observer.getClass().getName(), PrintableException.of(failure));
    }
}
