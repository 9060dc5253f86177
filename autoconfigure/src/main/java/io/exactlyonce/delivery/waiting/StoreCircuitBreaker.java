package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.StoreCalls;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;

/**
 * Pauses the listeners that claim on one way, through the claim store or through a transaction manager of the
 * application's, while claims get no answer there: an outage uses up no receives. Its states:
 *
 * <ul>
 *   <li>CLOSED: listeners poll. {@link #FAILURES} claims in a row without an answer open it.
 *   <li>OPEN: listeners are paused. A claim that is answered, as of a delivery that was received before, closes it; a
 *       probe half-opens it.
 *   <li>HALF_OPEN: listeners poll, and the next claim decides: an answer closes it, none opens it again.
 * </ul>
 */
public final class StoreCircuitBreaker {

    /** Claims without an answer, in a row, that open a closed breaker. */
    public static final int FAILURES = 3;

    private static final Logger log = LoggerFactory.getLogger(StoreCircuitBreaker.class);

    private static final String CLAIMS = "claims";

    private enum State {
        CLOSED,
        OPEN,
        HALF_OPEN
    }

    private final String way;
    private final String description;
    private final DeliveryObserver observer;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition polling = lock.newCondition();
    private final Set<Subscription> subscriptions = new HashSet<>();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger working = new AtomicInteger();
    private volatile State state = State.CLOSED;

    /**
     * The breaker of the claim store.
     *
     * @param observer learns which subscriptions are paused
     */
    public StoreCircuitBreaker(DeliveryObserver observer) {
        this(CLAIMS, "the claim store", observer);
    }

    /** The breaker of a transaction manager, which has this name. */
    StoreCircuitBreaker(String manager, DeliveryObserver observer) {
        this(manager, "transaction manager '%s'".formatted(manager), observer);
    }

    private StoreCircuitBreaker(String way, String description, DeliveryObserver observer) {
        this.way = way;
        this.description = description;
        this.observer = observer;
    }

    /**
     * Returns a store whose claims tell this breaker whether the original answers; it learns of an answer before the caller. A
     * request that the store refuses for good tells nothing.
     */
    public AsyncClaimStore guard(AsyncClaimStore store) {
        return new AsyncClaimStore() {
            @Override
            public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
                return store.claimAsync(requests).whenComplete((outcomes, failure) -> {
                    if (failure == null) {
                        answered();
                    } else if (!(StoreCalls.unwrap(failure) instanceof IllegalArgumentException)) {
                        unanswered(failure);
                    }
                });
            }

            @Override
            public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
                return store.endAsync(ends);
            }
        };
    }

    /** A listener begins to poll as the breaker permits. */
    public void subscribe(Subscription subscription) {
        lock.lock();
        try {
            subscriptions.add(subscription);
            observer.pollingPaused(subscription, way, !permitsPolling());
        } finally {
            lock.unlock();
        }
    }

    /** A listener has stopped. */
    public void unsubscribe(Subscription subscription) {
        lock.lock();
        try {
            subscriptions.remove(subscription);
            observer.pollingPaused(subscription, way, false);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether listeners may poll: the breaker is closed or half open. */
    public boolean permitsPolling() {
        return state != State.OPEN;
    }

    /** Returns whether claims are answered as far as is known: the breaker has not opened since the last one was. */
    boolean isClosed() {
        return state == State.CLOSED;
    }

    /**
     * Waits until listeners may poll.
     *
     * @return whether they may
     */
    public boolean awaitPolling(Duration longest) throws InterruptedException {
        if (permitsPolling()) {
            return true;
        }
        lock.lockInterruptibly();
        try {
            long left = longest.toNanos();
            while (!permitsPolling() && left > 0) {
                left = polling.awaitNanos(left);
            }
            return permitsPolling();
        } finally {
            lock.unlock();
        }
    }

    /** A claim was answered on this way. */
    void answered() {
        if (isClosed() && failures.get() == 0) {
            return;
        }
        lock.lock();
        try {
            failures.set(0);
            become(State.CLOSED);
        } finally {
            lock.unlock();
        }
    }

    /** A claim got no answer on this way. */
    void unanswered(Throwable failure) {
        lock.lock();
        try {
            if (state == State.HALF_OPEN) {
                open("the next claim", failure);
            } else if (state == State.CLOSED && failures.incrementAndGet() == FAILURES) {
                open(FAILURES + " claims in a row", failure);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Lets listeners poll until the next claim without an answer. */
    void halfOpen() {
        lock.lock();
        try {
            if (state == State.OPEN) {
                become(State.HALF_OPEN);
            }
        } finally {
            lock.unlock();
        }
    }

    private void open(String claims, Throwable failure) {
        state = State.OPEN;
        Throwable reason = NestedExceptionUtils.getMostSpecificCause(failure);
        for (Subscription subscription : subscriptions) {
            log.warn(
                    "{} is paused: {} got no answer through {} ({}). It polls again, by itself, when a claim is "
                            + "answered there",
                    subscription,
                    claims,
                    description,
                    reason.toString());
            observer.pollingPaused(subscription, way, true);
        }
    }

    private void become(State next) {
        boolean wasPaused = !permitsPolling();
        state = next;
        if (wasPaused) {
            polling.signalAll();
            for (Subscription subscription : subscriptions) {
                log.info("{} polls again: {} answers", subscription, description);
                observer.pollingPaused(subscription, way, false);
            }
        }
    }

    /** A handler works in the transaction that claims its key, and keeps a connection for as long. */
    public void workBegins() {
        working.incrementAndGet();
    }

    void workEnds() {
        working.decrementAndGet();
    }

    /** Returns whether handlers keep connections, so that a claim may get no answer only for want of one. */
    public boolean isBusy() {
        return working.get() > 0;
    }

    @Override
    public String toString() {
        return description;
    }
}
