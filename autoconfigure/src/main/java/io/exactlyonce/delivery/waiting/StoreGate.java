package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;

/**
 * Closed while claims get no answer on one way, through the claim store or through a transaction manager of the
 * application's: listeners that claim on this way poll only while it is open, so that an outage uses up no receives. It
 * closes when a few claims in a row got no answer, and opens with the first answer to a claim. Half open, it closes with
 * the first claim that gets none.
 */
public final class StoreGate {

    /** Claims without an answer, in a row, that close the gate. */
    public static final int FAILURES = 3;

    private static final Logger log = LoggerFactory.getLogger(StoreGate.class);

    private static final String CLAIMS = "claims";

    private final String way;
    private final String description;
    private final DeliveryObserver observer;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition opened = lock.newCondition();
    private final Set<Subscription> subscriptions = new HashSet<>();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger working = new AtomicInteger();
    private volatile boolean inDoubt;

    /**
     * The gate of the claim store.
     *
     * @param observer learns which subscriptions are paused
     */
    public StoreGate(DeliveryObserver observer) {
        this(CLAIMS, "the claim store", observer);
    }

    /** The gate of a transaction manager, which has this name. */
    StoreGate(String manager, DeliveryObserver observer) {
        this(manager, "transaction manager '%s'".formatted(manager), observer);
    }

    private StoreGate(String way, String description, DeliveryObserver observer) {
        this.way = way;
        this.description = description;
        this.observer = observer;
    }

    /** Returns a store whose claims tell this gate whether the original answers. */
    public ClaimStore guard(ClaimStore store) {
        return new GuardedClaimStore(store, this);
    }

    /** A listener begins to poll as the gate allows. */
    public void subscribe(Subscription subscription) {
        lock.lock();
        try {
            subscriptions.add(subscription);
            observer.paused(subscription, way, !isOpen());
        } finally {
            lock.unlock();
        }
    }

    /** A listener has stopped. */
    public void unsubscribe(Subscription subscription) {
        lock.lock();
        try {
            subscriptions.remove(subscription);
            observer.paused(subscription, way, false);
        } finally {
            lock.unlock();
        }
    }

    /** Tells whether listeners may poll. */
    public boolean isOpen() {
        return failures.get() < FAILURES;
    }

    /**
     * Waits until listeners may poll.
     *
     * @return whether they may
     */
    public boolean awaitOpen(Duration longest) throws InterruptedException {
        if (isOpen()) {
            return true;
        }
        lock.lockInterruptibly();
        try {
            long left = longest.toNanos();
            while (!isOpen() && left > 0) {
                left = opened.awaitNanos(left);
            }
            return isOpen();
        } finally {
            lock.unlock();
        }
    }

    void unanswered(RuntimeException failure) {
        lock.lock();
        try {
            if (!isOpen()) {
                return;
            }
            if (failures.incrementAndGet() == FAILURES) {
                close(NestedExceptionUtils.getMostSpecificCause(failure));
            }
        } finally {
            lock.unlock();
        }
    }

    private void close(Throwable reason) {
        String claims = inDoubt ? "the next claim" : FAILURES + " claims in a row";
        inDoubt = true;
        for (Subscription subscription : subscriptions) {
            log.warn(
                    "{} is paused: {} got no answer through {} ({}). It polls again, by itself, when a claim is "
                            + "answered there",
                    subscription,
                    claims,
                    description,
                    reason.toString());
            observer.paused(subscription, way, true);
        }
    }

    void answered() {
        if (failures.get() == 0) {
            return;
        }
        lock.lock();
        try {
            inDoubt = false;
            if (failures.getAndSet(0) >= FAILURES) {
                open();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Tells whether it has closed, and no claim was answered since. */
    boolean isInDoubt() {
        return inDoubt;
    }

    /** Lets listeners poll until the next claim without an answer. */
    void halfOpen() {
        lock.lock();
        try {
            if (!isOpen()) {
                failures.set(FAILURES - 1);
                open();
            }
        } finally {
            lock.unlock();
        }
    }

    private void open() {
        opened.signalAll();
        for (Subscription subscription : subscriptions) {
            log.info("{} polls again: {} answers", subscription, description);
            observer.paused(subscription, way, false);
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
