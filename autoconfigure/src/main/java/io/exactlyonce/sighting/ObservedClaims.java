package io.exactlyonce.sighting;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims beside handlers that run anyway.
 *
 * <p>Guaranteed: no call waits, for the store or for anything else, nor throws; at most a fixed number of observations is under way,
 * and what comes beyond it is counted as not observed; a key is recorded as completed only if its handler succeeded while it had
 * the claim.
 *
 * <p>Not guaranteed: that all is seen. Leases are not renewed: that a handler on another instance outlived its lease is seen when
 * it ends, and told by that instance.
 */
public final class ObservedClaims implements AutoCloseable {

    /** Handlers that run, and claims and outcomes without an answer: a key of 512 characters and a few futures each. */
    public static final int MOST_UNDER_WAY = 5_000;

    private static final Duration LONGEST_STOP = Duration.ofSeconds(2);

    private static final Logger log = LoggerFactory.getLogger(ObservedClaims.class);

    private final ObservedStore store;
    private final List<SightingObserver> observers;
    private final int most;
    private final KeyRuns runs = new KeyRuns();
    private final AtomicInteger underWay = new AtomicInteger();

    /**
     * @param store keeps the claims; asked on the thread only
     * @param terms on which keys are claimed where listeners are enforced
     * @param observers learn what is seen
     * @param thread does what handlers must not wait for, in its order; takes whatever it is given
     * @param timer for what has to be repeated
     * @param most observations under way, from 1
     */
    public ObservedClaims(
            AsyncClaimStore store,
            ClaimSettings terms,
            List<SightingObserver> observers,
            Executor thread,
            Timer timer,
            int most) {
        this.store = new ObservedStore(store, terms, thread, timer);
        this.observers = List.copyOf(observers);
        this.most = most;
    }

    /** A listener is observed from its next start on. */
    public void observing(ObservedQueue queue) {
        Boundary.tell(observers, observer -> observer.observing(queue));
    }

    /** A handler is about to be called. */
    public Observation begin(ObservedQueue queue, ObservedMessage message) {
        if (underWay.incrementAndGet() > most) {
            underWay.decrementAndGet();
            notObserved(queue, Unobserved.OVERLOAD, null);
            return Observation.NONE;
        }
        ObservedRun run = new ObservedRun(queue, message.key(), store, runs, this);
        var unused = run.recorded().thenRun(underWay::decrementAndGet);
        run.begin(message);
        return run;
    }

    /** A handler is about to be called of which nothing can be observed, or it is not known what became of it. */
    public void notObserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {
        Boundary.tell(observers, observer -> observer.unobserved(queue, reason, failure));
    }

    void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
        Boundary.tell(observers, observer -> observer.sighted(queue, key, sighting));
    }

    /** Returns how many observations are under way. */
    int underWay() {
        return underWay.get();
    }

    /** Waits, 2 s at most, until it is on record how handlers have ended; handlers that still run are not waited for. */
    @Override
    public void close() {
        close(LONGEST_STOP);
    }

    void close(Duration longest) {
        try {
            runs.ended().get(longest.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException unanswered) {
            log.warn(
                    "The claims' database does not answer; how up to {} observed handlers ended is not on record",
                    underWay.get());
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException("What is on record fails with nothing", impossible);
        }
    }
}
