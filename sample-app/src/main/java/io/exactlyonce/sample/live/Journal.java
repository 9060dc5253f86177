package io.exactlyonce.sample.live;

import io.exactlyonce.time.NanoClock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** The latest events. */
final class Journal {

    private static final int KEPT = 60;

    private final NanoClock clock;
    private final long startNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Happening> last = new ArrayDeque<>();
    private long number;

    Journal(NanoClock clock) {
        this.clock = clock;
        this.startNanos = clock.nanoTime();
    }

    void note(String side, String what, String about) {
        lock.lock();
        try {
            last.addLast(new Happening(++number, second(), side, what, about));
            if (last.size() > KEPT) {
                last.removeFirst();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns the latest events, the oldest first. */
    List<Happening> last() {
        lock.lock();
        try {
            return List.copyOf(last);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the seconds since the start. */
    double second() {
        return (clock.nanoTime() - startNanos) / 1e9;
    }

    /**
     * An event.
     *
     * @param number grows by one with each event
     * @param second the time, in seconds since the start
     * @param side the label of a side, or {@code lab} for both
     * @param what the kind: {@code charged}, {@code duplicate}, {@code honoured}, {@code killed}, ...
     * @param about the order, the worker or the figure of the event
     */
    record Happening(long number, double second, String side, String what, String about) {}
}
