package io.exactlyonce.test.kit;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Records the engine's reports about deliveries. Tests wait for these reports. */
final class Journal implements DeliveryEvent.SelectiveObserver {

    private static final ThreadLocal<@Nullable List<Delivered>> CURRENT = new ThreadLocal<>();

    private static final Duration SHORT = Duration.ofMillis(5);

    private final Map<String, Delivered> receipts = new ConcurrentHashMap<>();
    private final Map<ClaimId, Delivered> claims = new ConcurrentHashMap<>();
    private final Set<Subscription> subscriptions = ConcurrentHashMap.newKeySet();

    void expect(Collection<Delivered> messages) {
        messages.forEach(each -> receipts.put(each.receiptHandle(), each));
    }

    /** Returns the deliveries of the handler that runs on this thread; empty on another thread. */
    List<Delivered> current() {
        List<Delivered> called = CURRENT.get();
        return called == null ? List.of() : called;
    }

    Optional<Delivered> of(ClaimId claim) {
        return Optional.ofNullable(claims.get(claim));
    }

    Collection<Delivered> all() {
        return List.copyOf(receipts.values());
    }

    void forgetAll() {
        receipts.clear();
        claims.clear();
    }

    /** Returns the names of the queues that listeners read. */
    Set<String> queues() {
        return subscriptions.stream().map(Subscription::queue).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns whether nothing more happens to a delivery until time passes or its handler ends. */
    boolean isAtRest(Delivered delivered, boolean storeIsAway) {
        return delivered.isAtRest(storeIsAway) || (delivered.outcome() == Outcome.WAITING && areAllWaiting(delivered));
    }

    /** Returns whether all waits have started. The engine decides on a wait before it starts. */
    private boolean areAllWaiting(Delivered delivered) {
        Subscription subscription = delivered.delivery().orElseThrow().subscription();
        long decided = receipts.values().stream()
                .filter(each -> each.outcome() == Outcome.WAITING)
                .filter(each -> each.delivery().orElseThrow().subscription().equals(subscription))
                .count();
        return subscription.levels().waiting().get() >= decided;
    }

    /**
     * Waits until a condition is true.
     *
     * @return whether the condition is true
     */
    boolean await(BooleanSupplier condition, Duration longest, Runnable meanwhile) {
        long deadline = System.nanoTime() + longest.toNanos();
        while (!condition.getAsBoolean()) {
            meanwhile.run();
            if (System.nanoTime() - deadline > 0) {
                return condition.getAsBoolean();
            }
            awaitChange(condition);
        }
        return true;
    }

    /** Waits only briefly, because the condition may become true without a notification. */
    private synchronized void awaitChange(BooleanSupplier condition) {
        if (!condition.getAsBoolean()) {
            wait(this, SHORT.toNanos());
        }
    }

    /** Waits once on a monitor. On a handler's interrupted thread, the thread also waits, and stays interrupted. */
    static void wait(Object monitor, long nanos) {
        boolean interrupted = Thread.interrupted();
        try {
            TimeUnit.NANOSECONDS.timedWait(monitor, nanos);
        } catch (InterruptedException again) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private synchronized void notifyChange() {
        notifyAll();
    }

    @Override
    public void subscribed(Subscription subscription) {
        subscriptions.add(subscription);
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        subscriptions.remove(subscription);
    }

    @Override
    public ClaimScope claiming(List<Delivery> deliveries) {
        List<Optional<Delivered>> asked = deliveries.stream().map(this::meet).toList();
        for (int index = 0; index < deliveries.size(); index++) {
            Delivery delivery = deliveries.get(index);
            if (!delivery.attempt().isTransactional()) {
                asked.get(index)
                        .ifPresent(delivered -> claims.put(delivery.attempt().id(), delivered));
            }
        }
        return (outcomes, failure) -> {
            for (int index = 0; index < outcomes.size(); index++) {
                ClaimOutcome outcome = outcomes.get(index);
                asked.get(index).ifPresent(delivered -> delivered.answered(outcome));
            }
        };
    }

    @Override
    public HandlerScope handling(List<Delivery> deliveries) {
        List<Delivered> called = deliveries.stream()
                .flatMap(delivery -> begin(delivery).stream())
                .toList();
        called.forEach(delivered -> delivered.calledWith(called));
        CURRENT.set(called);
        notifyChange();
        return new HandlerScope() {
            @Override
            public void leave() {
                CURRENT.remove();
            }

            @Override
            public void end(@Nullable Throwable failure) {
                called.forEach(delivered -> delivered.handlerEnded(failure));
                notifyChange();
            }
        };
    }

    private Optional<Delivered> begin(Delivery delivery) {
        Optional<Delivered> met = meet(delivery);
        met.ifPresent(delivered -> {
            claims.put(delivery.attempt().id(), delivered);
            delivered.handlerStarted(
                    delivery.attempt().id(), delivery.attempt().claim().attempt());
        });
        return met;
    }

    @Override
    public void parked(DeliveryEvent.Parked event) {
        receipts.values().stream()
                .filter(delivered -> delivered
                        .claim()
                        .map(ClaimId::key)
                        .filter(event.key()::equals)
                        .isPresent())
                .filter(delivered -> delivered
                        .delivery()
                        .filter(delivery -> delivery.state() == DeliveryState.FAILED)
                        .isPresent())
                .forEach(Delivered::park);
    }

    @Override
    public void settled(DeliveryEvent.Settled event) {
        Delivery delivery = event.delivery();
        meet(delivery).ifPresent(delivered -> {
            Boundary.detach("A test's journal", delivery.ended().thenRun(() -> {
                delivered.gone();
                notifyChange();
            }));
        });
    }

    private Optional<Delivered> meet(Delivery delivery) {
        Optional<Delivered> known = Optional.ofNullable(receipts.get(delivery.receiptHandle()));
        known.ifPresent(delivered -> delivered.met(delivery));
        return known;
    }
}
