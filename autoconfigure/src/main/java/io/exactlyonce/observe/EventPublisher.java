package io.exactlyonce.observe;

import io.exactlyonce.ExactlyOnceEvent;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.foresight.WindowWarning;
import io.exactlyonce.window.watch.WindowObserver;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;

/** Publishes application events, on a thread of their own: an application's listeners must not hold claims up. */
public final class EventPublisher implements DeliveryObserver, WindowObserver {

    private static final Logger log = LoggerFactory.getLogger(EventPublisher.class);

    private final ApplicationEventPublisher events;
    private final Executor thread;
    private final AtomicBoolean isDropping = new AtomicBoolean();

    /**
     * @param events where they are published
     * @param thread calls the application's listeners, one event after the other; refuses what it cannot keep
     */
    public EventPublisher(ApplicationEventPublisher events, Executor thread) {
        this.events = events;
        this.thread = thread;
    }

    @Override
    public void claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) {
        String listener = subscription.listener();
        String queue = subscription.queue();
        outcome.<Runnable>match(
                        acquired -> acquired.ambiguous()
                                ? () -> publish(new ExactlyOnceEvent.TakenOver(
                                        listener, queue, key.shortHash(), acquired.attempt()))
                                : () -> {},
                        completed -> () ->
                                publish(new ExactlyOnceEvent.DuplicateSuppressed(listener, queue, key.shortHash())),
                        mismatch -> () -> {},
                        held -> () -> {},
                        parked -> () -> publish(new ExactlyOnceEvent.KeyParked(listener, queue, key.shortHash())))
                .run();
    }

    @Override
    public void parked(Subscription subscription, ClaimKey key) {
        publish(new ExactlyOnceEvent.KeyParked(subscription.listener(), subscription.queue(), key.shortHash()));
    }

    @Override
    public void claimLost(Subscription subscription, ClaimKey key) {
        publish(new ExactlyOnceEvent.ClaimLost(subscription.listener(), subscription.queue(), key.shortHash()));
    }

    @Override
    public void warned(Subscription subscription, WindowWarning warning) {
        if (warning.kind() == WindowWarning.Kind.BREACHED) {
            publish(new ExactlyOnceEvent.WindowBreached(
                    subscription.listener(), subscription.queue(), warning.p95(), warning.window()));
        }
    }

    private void publish(ExactlyOnceEvent event) {
        try {
            thread.execute(() -> deliver(event));
            isDropping.set(false);
        } catch (RejectedExecutionException full) {
            if (isDropping.compareAndSet(false, true)) {
                log.warn(
                        "Events are dropped: the application's listeners are too slow for them; the first is {}",
                        event);
            }
        }
    }

    private void deliver(ExactlyOnceEvent event) {
        try {
            events.publishEvent(event);
        } catch (RuntimeException failure) {
            log.warn("A listener of {} failed; the delivery goes on", event, failure);
        }
    }
}
