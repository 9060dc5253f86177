package io.exactlyonce.window.watch;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.WindowAdvice;
import io.exactlyonce.window.foresight.Latencies;
import io.exactlyonce.window.foresight.Outlook;
import io.exactlyonce.window.foresight.WindowForesight;
import io.exactlyonce.window.foresight.WindowWarning;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Keeps a foresight for each listener and queue, from the first start of the listener to the end of the process: nothing of
 * it is stored, and a new process learns anew.
 *
 * <p>What counts is the time from a message's receive to its confirmed delete, or until it was abandoned, since that is
 * what the window must hold. Deliveries that were returned because their handler failed are left out.
 */
public final class WindowWatch implements DeliveryObserver {

    /** Deliveries from which on a 99th percentile is more than the longest of them. */
    private static final int ENOUGH = 100;

    private final boolean isRenewed;
    private final List<WindowObserver> observers;
    private final NanoClock clock;
    private final ConcurrentMap<Key, Watched> watched = new ConcurrentHashMap<>();

    private record Key(String listener, String queue) {}

    private static final class Watched {
        final WindowForesight foresight;
        volatile Subscription subscription;

        Watched(Subscription subscription) {
            this.subscription = subscription;
            foresight = new WindowForesight(subscription.window().length());
        }

        void revise(Subscription revised) {
            subscription = revised;
            foresight.windowChanged(revised.window().length());
        }
    }

    /**
     * Watches nothing until a listener subscribes.
     *
     * @param isRenewed whether windows are renewed while handlers run
     * @param observers learn of each warning
     */
    public WindowWatch(boolean isRenewed, List<WindowObserver> observers, NanoClock clock) {
        this.isRenewed = isRenewed;
        this.observers = List.copyOf(observers);
        this.clock = clock;
    }

    @Override
    public void subscribed(Subscription subscription) {
        of(subscription).revise(subscription);
    }

    @Override
    public void delivered(Subscription subscription, Duration elapsed) {
        Watched its = of(subscription);
        Optional<WindowWarning> warning = its.foresight.record(clock.nanoTime(), elapsed.toNanos() * 1e-9);
        warning.ifPresent(told -> Boundary.tell(observers, observer -> observer.warned(its.subscription, told)));
    }

    /** Returns what is known of each listener's window, by listener and queue. */
    public List<ListenerWindow> windows() {
        return watched.values().stream()
                .map(this::window)
                .sorted(Comparator.comparing(
                                (ListenerWindow each) -> each.subscription().listener())
                        .thenComparing(each -> each.subscription().queue()))
                .toList();
    }

    /** Returns what is known of one listener's window on a queue, once it has begun to receive from it. */
    public Optional<ListenerWindow> window(String listener, String queue) {
        return Optional.ofNullable(watched.get(new Key(listener, queue))).map(this::window);
    }

    /** Returns the 99th percentile of a listener's deliveries, from receive to confirmed delete; empty if too few were measured. */
    public Optional<Duration> p99(Subscription subscription) {
        return window(subscription.listener(), subscription.queue())
                .map(window -> window.outlook().latencies())
                .filter(latencies -> latencies.count() >= ENOUGH)
                .map(Latencies::p99);
    }

    private ListenerWindow window(Watched its) {
        Subscription subscription = its.subscription;
        Outlook outlook = its.foresight.outlook(clock.nanoTime());
        return new ListenerWindow(
                subscription,
                outlook,
                WindowAdvice.of(subscription.queue(), subscription.window(), isRenewed, outlook.latencies()));
    }

    private Watched of(Subscription subscription) {
        return watched.computeIfAbsent(
                new Key(subscription.listener(), subscription.queue()), key -> new Watched(subscription));
    }
}
