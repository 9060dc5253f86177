package io.exactlyonce.delivery;

import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The receives that a message has left before SQS moves it to the dead-letter queue. A delivery that is received while
 * another holds its key uses one up without having been tried.
 */
public final class ReceiveBudget {

    private static final Logger log = LoggerFactory.getLogger(ReceiveBudget.class);

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private final RetryBackoff backoff;
    private final DeliveryObserver observer;
    private final NanoClock clock;
    private final Jitter random;
    private final Map<String, Long> warnings = new ConcurrentHashMap<>();

    public ReceiveBudget(RetryBackoff backoff, DeliveryObserver observer, NanoClock clock, Jitter random) {
        this.backoff = backoff;
        this.observer = observer;
        this.clock = clock;
        this.random = random;
    }

    /**
     * Returns for how long a delivery that was not tried stays away, so that its receives last: for as long as the holder's
     * handler may run, if the listener has a timeout.
     */
    public Duration delay(Delivery delivery) {
        Integer most = delivery.subscription().maxReceiveCount();
        if (most == null) {
            return retryDelay(delivery);
        }
        Duration sparing = backoff.sparing(delivery.receiveCount(), most, random.next());
        Duration timeout = delivery.subscription().timeout();
        if (timeout == null) {
            return sparing;
        }
        Duration share = timeout.dividedBy(Math.max(1, most - delivery.receiveCount() + 1));
        return sparing.compareTo(share) > 0 ? sparing : share;
    }

    /** Returns for how long a delivery stays away that had its chance: nothing is to be gained by sparing its receives. */
    public Duration retryDelay(Delivery delivery) {
        return backoff.after(delivery.receiveCount(), random.next());
    }

    /** Warns, once a minute, when duplicates alone have brought a message within one receive of the dead-letter queue. */
    public void check(Delivery delivery) {
        Subscription subscription = delivery.subscription();
        Integer most = subscription.maxReceiveCount();
        if (most == null || delivery.receiveCount() < most - 1) {
            return;
        }
        observer.receivesRunOut(subscription);
        if (isTimeToWarn(subscription.toString())) {
            log.warn(
                    "{} waits untried for the holder of its key, or for the claim store; its queue moves it to the "
                            + "dead-letter queue after {} receives: raise maxReceiveCount, or look for what delivers it "
                            + "so often",
                    delivery,
                    most);
        }
    }

    private boolean isTimeToWarn(String subscription) {
        long now = clock.nanoTime();
        Long last = warnings.get(subscription);
        if (last != null && now - last < BETWEEN_WARNINGS.toNanos()) {
            return false;
        }
        warnings.put(subscription, now);
        return true;
    }
}
