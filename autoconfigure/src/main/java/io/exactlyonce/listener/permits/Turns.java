package io.exactlyonce.listener.permits;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Turns of messages: so many are taken at any time, in the order in which they were asked for. No thread waits for one. */
final class Turns {

    /** Those that are still to begin on this thread, while one of them does. */
    private static final ThreadLocal<@Nullable Deque<Waiting>> BEGINNING = new ThreadLocal<>();

    private final int most;
    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition fewer = lock.newCondition();
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private int taken;

    /**
     * Makes turns.
     *
     * @param most how many may be taken at any time
     * @param clock monotonic, in nanoseconds
     */
    Turns(int most, NanoClock clock) {
        this.most = most;
        this.clock = clock;
    }

    int most() {
        return most;
    }

    /**
     * Takes some, all at once.
     *
     * @param turns if they are more than there are, they are taken when no other is
     * @return completes when they are taken, with that moment
     */
    CompletableFuture<Long> take(int turns) {
        Waiting asked = new Waiting(turns, clock, new CompletableFuture<>());
        List<Waiting> next;
        lock.lock();
        try {
            waiting.add(asked);
            next = next();
        } finally {
            lock.unlock();
        }
        begin(next);
        return asked.taken();
    }

    /**
     * Gives some back, and the turns of those that come next begin.
     *
     * @return how many of these are left when no more is taken
     */
    int giveBack(int turns) {
        int left;
        List<Waiting> next;
        lock.lock();
        try {
            left = Math.max(0, turns - taken);
            taken -= turns - left;
            fewer.signalAll();
            next = next();
        } finally {
            lock.unlock();
        }
        begin(next);
        return left;
    }

    private List<Waiting> next() {
        List<Waiting> next = new ArrayList<>();
        while (!waiting.isEmpty() && (waiting.element().turns() <= most - taken || taken == 0)) {
            taken += waiting.element().turns();
            next.add(waiting.remove());
        }
        return next;
    }

    /**
     * Begins turns, one after the other also where one of them ends at once, and lets the next one begin: not within it, since no
     * stack is deep enough for as many as may wait.
     */
    private static void begin(List<Waiting> next) {
        if (next.isEmpty()) {
            return;
        }
        Deque<Waiting> already = BEGINNING.get();
        if (already != null) {
            already.addAll(next);
            return;
        }
        Deque<Waiting> begun = new ArrayDeque<>(next);
        BEGINNING.set(begun);
        try {
            while (!begun.isEmpty()) {
                begun.remove().begin();
            }
        } finally {
            BEGINNING.remove();
        }
    }

    /** Waits until none is taken, for so long at most; returns how much of the time is left. */
    Duration awaitNone(Duration timeout) {
        long left = timeout.toNanos();
        lock.lock();
        try {
            while (taken > 0 && left > 0) {
                left = fewer.awaitNanos(left);
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        return Duration.ofNanos(Math.max(0, left));
    }

    boolean isNoneTaken() {
        lock.lock();
        try {
            return taken == 0;
        } finally {
            lock.unlock();
        }
    }

    private record Waiting(int turns, NanoClock clock, CompletableFuture<Long> taken) {

        void begin() {
            // Whatever becomes of this one: its turn has begun, and the others are to.
            Boundary.guard("A turn", () -> taken.complete(clock.nanoTime()));
        }
    }
}
