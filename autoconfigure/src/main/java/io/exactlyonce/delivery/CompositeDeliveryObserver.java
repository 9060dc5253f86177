package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells all observers, and shields deliveries from whatever they throw. */
public final class CompositeDeliveryObserver implements DeliveryObserver {

    private static final Logger log = LoggerFactory.getLogger(CompositeDeliveryObserver.class);

    private final List<DeliveryObserver> observers;
    private final LongAdder failures = new LongAdder();

    public CompositeDeliveryObserver(List<DeliveryObserver> observers) {
        this.observers = List.copyOf(observers);
    }

    @Override
    public void subscribed(Subscription subscription) {
        tell(observer -> observer.subscribed(subscription));
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        tell(observer -> observer.unsubscribed(subscription));
    }

    @Override
    public void received(Subscription subscription, int receiveCount, @Nullable Duration age) {
        tell(observer -> observer.received(subscription, receiveCount, age));
    }

    @Override
    public void inFlight(Subscription subscription, int change) {
        tell(observer -> observer.inFlight(subscription, change));
    }

    @Override
    public ClaimScope claiming(List<ClaimCall> calls) {
        List<ClaimScope> scopes = new ArrayList<>(observers.size());
        tell(observer -> {
            ClaimScope scope = observer.claiming(calls);
            if (scope != ClaimScope.NONE) {
                scopes.add(scope);
            }
        });
        return scopes.isEmpty()
                ? ClaimScope.NONE
                : (outcomes, failure) -> scopes.forEach(scope -> shield(scope, () -> scope.end(outcomes, failure)));
    }

    @Override
    public void claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) {
        tell(observer -> observer.claimed(subscription, key, outcome));
    }

    @Override
    public void parked(Subscription subscription, ClaimKey key) {
        tell(observer -> observer.parked(subscription, key));
    }

    @Override
    public HandlerScope handling(List<HandlerCall> calls) {
        List<HandlerScope> scopes = new ArrayList<>(observers.size());
        tell(observer -> {
            HandlerScope scope = observer.handling(calls);
            if (scope != HandlerScope.NONE) {
                scopes.add(0, scope);
            }
        });
        return scopes.isEmpty() ? HandlerScope.NONE : new Scopes(scopes);
    }

    /** What several observers have begun, the last of them first. */
    private final class Scopes implements HandlerScope {

        private final List<HandlerScope> scopes;

        Scopes(List<HandlerScope> scopes) {
            this.scopes = scopes;
        }

        @Override
        public void leave() {
            scopes.forEach(scope -> shield(scope, () -> scope.leave()));
        }

        @Override
        public void end(@Nullable Throwable failure) {
            scopes.forEach(scope -> shield(scope, () -> scope.end(failure)));
        }
    }

    @Override
    public void handled(Subscription subscription, Duration elapsed) {
        tell(observer -> observer.handled(subscription, elapsed));
    }

    @Override
    public void delivered(Subscription subscription, Duration elapsed) {
        tell(observer -> observer.delivered(subscription, elapsed));
    }

    @Override
    public void settled(Delivery delivery, DeliveryState state) {
        tell(observer -> observer.settled(delivery, state));
    }

    @Override
    public void acknowledged(Delivery delivery) {
        tell(observer -> observer.acknowledged(delivery));
    }

    @Override
    public void renewed(Subscription subscription, Target target, Result result) {
        tell(observer -> observer.renewed(subscription, target, result));
    }

    @Override
    public void claimLost(Subscription subscription, ClaimKey key) {
        tell(observer -> observer.claimLost(subscription, key));
    }

    @Override
    public void timedOut(Subscription subscription) {
        tell(observer -> observer.timedOut(subscription));
    }

    @Override
    public void paused(Duration length) {
        tell(observer -> observer.paused(length));
    }

    @Override
    public void completionLost(Subscription subscription) {
        tell(observer -> observer.completionLost(subscription));
    }

    @Override
    public void completing(Subscription subscription, int deliveries) {
        tell(observer -> observer.completing(subscription, deliveries));
    }

    @Override
    public void waiting(Subscription subscription, int deliveries) {
        tell(observer -> observer.waiting(subscription, deliveries));
    }

    @Override
    public void receivesRunOut(Subscription subscription) {
        tell(observer -> observer.receivesRunOut(subscription));
    }

    @Override
    public void pollingPaused(Subscription subscription, String way, boolean paused) {
        tell(observer -> observer.pollingPaused(subscription, way, paused));
    }

    /** Returns how often an observer has thrown. */
    public long failures() {
        return failures.sum();
    }

    private void tell(Consumer<DeliveryObserver> event) {
        for (DeliveryObserver observer : observers) {
            shield(observer, () -> event.accept(observer));
        }
    }

    private void shield(Object told, Runnable telling) {
        try {
            telling.run();
        } catch (Throwable failure) {
            // Also an error, such as a missing class, and a checked exception, which languages like Kotlin throw
            // undeclared.
            failures.increment();
            log.warn("{} failed; the delivery goes on", told.getClass().getName(), failure);
        }
    }
}
