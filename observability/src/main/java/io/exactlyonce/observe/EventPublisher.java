package io.exactlyonce.observe;

import io.exactlyonce.ExactlyOnceEvent;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.window.WindowObserver;
import io.exactlyonce.window.WindowWarning;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;

/** Publishes application events on a separate thread, so that slow event listeners do not delay claims. */
public final class EventPublisher implements DeliveryEvent.Observer, WindowObserver {

    private static final Logger log = LoggerFactory.getLogger(EventPublisher.class);

    /**
     * At most one warning a minute is logged about dropped events. Otherwise, an overloaded application would log a
     * warning for almost each event.
     */
    private static final long TELLING_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final ApplicationEventPublisher events;
    private final Executor thread;
    private final NanoClock clock;
    private long dropped;
    private @Nullable Long told;

    /** Creates an event about a key, for example {@code ExactlyOnceEvent.KeyParked::new}. */
    private interface KeyEvent {
        ExactlyOnceEvent of(String listener, String queue, String keyHash);
    }

    /**
     * @param events passes events to the application's listeners
     * @param thread runs one task after another, and rejects tasks if too many are waiting
     */
    public EventPublisher(ApplicationEventPublisher events, Executor thread, NanoClock clock) {
        this.clock = clock;
        this.events = events;
        this.thread = thread;
    }

    @Override
    public void claimed(DeliveryEvent.Claimed event) {
        ClaimOutcome outcome = event.outcome();
        if (outcome instanceof ClaimOutcome.Acquired acquired && acquired.inDoubt()) {
            publish(
                    event.subscription(),
                    event.key(),
                    (listener, queue, key) -> new ExactlyOnceEvent.TakenOver(listener, queue, key, acquired.attempt()));
        } else if (outcome instanceof ClaimOutcome.AlreadyCompleted) {
            publish(event.subscription(), event.key(), ExactlyOnceEvent.DuplicateSuppressed::new);
        } else if (outcome instanceof ClaimOutcome.Parked) {
            publish(event.subscription(), event.key(), ExactlyOnceEvent.KeyParked::new);
        }
    }

    @Override
    public void parked(DeliveryEvent.Parked event) {
        publish(event.subscription(), event.key(), ExactlyOnceEvent.KeyParked::new);
    }

    @Override
    public void claimLost(RenewalEvent.ClaimLost event) {
        publish(event.subscription(), event.key(), ExactlyOnceEvent.ClaimLost::new);
    }

    @Override
    public void timedOut(RenewalEvent.TimedOut event) {
        Duration timeout = Objects.requireNonNull(event.subscription().timeout());
        publish(
                event.subscription(),
                event.key(),
                (listener, queue, keyHash) -> new ExactlyOnceEvent.HandlerTimedOut(listener, queue, keyHash, timeout));
    }

    @Override
    public void lastReceiveFailed(DeliveryEvent.LastReceiveFailed event) {
        publish(
                event.subscription(),
                event.key(),
                (listener, queue, keyHash) -> new ExactlyOnceEvent.LastReceiveFailed(
                        listener,
                        queue,
                        keyHash,
                        event.receiveCount(),
                        event.maxReceiveCount(),
                        Objects.requireNonNullElse(event.deadLetterQueue(), "unknown")));
    }

    // The methods below are empty on purpose. Applications need not react to these events, and meters and log lines
    // show them.

    @Override
    public void received(DeliveryEvent.Received event) {}

    @Override
    public void handled(DeliveryEvent.Handled event) {}

    @Override
    public void completionLost(DeliveryEvent.CompletionLost event) {}

    @Override
    public void settled(DeliveryEvent.Settled event) {}

    @Override
    public void acknowledged(DeliveryEvent.Acknowledged event) {}

    @Override
    public void delivered(DeliveryEvent.Delivered event) {}

    @Override
    public void finalReceive(DeliveryEvent.FinalReceive event) {}

    @Override
    public void keyMissing(DeliveryEvent.KeyMissing event) {}

    @Override
    public void renewed(RenewalEvent.Renewed event) {}

    @Override
    public void paused(RenewalEvent.Paused event) {}

    private void publish(Subscription subscription, ClaimKey key, KeyEvent event) {
        publish(event.of(subscription.listener(), subscription.queue(), key.keyHash()));
    }

    @Override
    public void warned(Subscription subscription, WindowWarning warning) {
        String listener = subscription.listener();
        String queue = subscription.queue();
        switch (warning.kind()) {
            case NEAR -> publish(new ExactlyOnceEvent.WindowNear(listener, queue, warning.p95(), warning.window()));
            case BREACHED ->
                publish(new ExactlyOnceEvent.WindowBreached(listener, queue, warning.p95(), warning.window()));
            case RECOVERED -> {}
        }
    }

    private void publish(ExactlyOnceEvent event) {
        try {
            thread.execute(() -> deliver(event));
        } catch (RejectedExecutionException full) {
            dropped(event);
        }
    }

    private synchronized void dropped(ExactlyOnceEvent event) {
        dropped++;
        long now = clock.nanoTime();
        if (told == null || now - told >= TELLING_NANOS) {
            log.warn(
                    "Events are dropped ({} since the last such line): the application's listeners are too slow. The latest"
                            + " event is {}",
                    dropped,
                    event);
            told = now;
            dropped = 0;
        }
    }

    private void deliver(ExactlyOnceEvent event) {
        try {
            events.publishEvent(event);
        } catch (RuntimeException failure) {
            log.warn(
                    "An application listener of {} failed; the delivery continues",
                    event,
                    PrintableException.of(failure));
        }
    }
}
