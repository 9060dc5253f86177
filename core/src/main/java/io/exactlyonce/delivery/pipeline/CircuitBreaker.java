package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pauses listeners while the claim store does not answer, because their messages could not be claimed. Each claim path
 * has its own breaker. A claim path is the claim store, or a transaction manager of the application.
 *
 * <p>The breaker opens after {@value #FAILURES} claims in a row without an answer, and closes with the next answer.
 * While it is open, deliveries in flight repeat their claims, and paused listeners make trial polls from time to time.
 * An answer to any of these claims closes the breaker. The first trial poll comes after a second. After each failed
 * trial, the pause doubles, up to 30 s.
 */
public final class CircuitBreaker implements PollGate {

    static final int FAILURES = 3;

    private static final Logger log = LoggerFactory.getLogger(CircuitBreaker.class);

    private static final long FIRST_PAUSE = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofSeconds(30).toNanos();

    private final String claimPath;
    private final String description;
    private final NanoClock clock;
    private final Set<Subscription> subscriptions = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition closed = lock.newCondition();
    private volatile int failures;
    private volatile long trial;
    private long pause;

    CircuitBreaker(String claimPath, String description, NanoClock clock) {
        this.claimPath = claimPath;
        this.description = description;
        this.clock = clock;
    }

    /**
     * Called when a listener begins to poll. From then on, the breaker logs when this listener is paused, and when it
     * polls again.
     */
    public void subscribe(Subscription subscription) {
        subscriptions.add(subscription);
    }

    /** Called when a listener has stopped. */
    public void unsubscribe(Subscription subscription) {
        subscriptions.remove(subscription);
    }

    @Override
    public String claimPath() {
        return claimPath;
    }

    @Override
    public void answered() {
        if (failures == 0) {
            return;
        }
        lock.lock();
        try {
            if (isPaused()) {
                closed.signalAll();
                subscriptions.forEach(paused -> log.info("{} polls again: {} answers", paused, description));
            }
            failures = 0;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void unanswered(Throwable why) {
        lock.lock();
        try {
            boolean opens = failures == FAILURES - 1;
            if (opens || (isPaused() && permitsPolling())) {
                pause = opens ? FIRST_PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
                trial = clock.nanoTime() + pause;
            }
            failures = Math.min(failures + 1, FAILURES);
            if (opens) {
                String reason = RetryingClaimClient.why(why);
                subscriptions.forEach(paused -> log.warn(
                        "{} is paused: {} claims in a row got no answer through {} ({}). It resumes "
                                + "automatically when a claim is answered there",
                        paused,
                        FAILURES,
                        description,
                        reason));
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isPaused() {
        return failures >= FAILURES;
    }

    @Override
    public boolean permitsPolling() {
        return !isPaused() || trial - clock.nanoTime() <= 0;
    }

    @Override
    public boolean awaitPolling(Duration longest) throws InterruptedException {
        if (permitsPolling()) {
            return true;
        }
        lock.lockInterruptibly();
        try {
            long left = longest.toNanos();
            while (!permitsPolling() && left > 0) {
                long asked = Math.min(left, Math.max(1, trial - clock.nanoTime()));
                left -= asked - Math.max(0, closed.awaitNanos(asked));
            }
            return permitsPolling();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return description;
    }
}
