package io.exactlyonce.test.kit;

import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A clock that moves only when a test advances it. Due tasks run one by one at their time, on the thread that advances
 * the clock. Renewals are therefore requested and answered before time continues.
 */
final class TestClock implements EngineScheduler {

    private static final Comparator<Due> FIRST =
            Comparator.comparingLong(Due::at).thenComparingLong(Due::number);

    private final ReentrantLock advancing = new ReentrantLock();
    private final PriorityQueue<Due> dues = new PriorityQueue<>(FIRST);
    private volatile long now;
    private long count;

    /** @param once whether this is a single pause, and not a repeated tick */
    private record Due(long at, long number, Runnable task, boolean once) {}

    @Override
    public long nanoTime() {
        return now;
    }

    /** Advances the clock. */
    void advance(Duration time) {
        advancing.lock();
        try {
            long end = now + time.toNanos();
            for (Optional<Due> due = next(end); due.isPresent(); due = next(end)) {
                now = Math.max(now, due.get().at());
                due.get().task().run();
            }
            now = Math.max(now, end);
        } finally {
            advancing.unlock();
        }
    }

    /** Ends the engine's next pause. Returns false if there is none. */
    boolean endPause() {
        Optional<Long> end;
        synchronized (dues) {
            end = dues.stream().filter(Due::once).map(Due::at).min(Comparator.naturalOrder());
        }
        end.ifPresent(at -> advance(Duration.ofNanos(Math.max(0, at - now))));
        return end.isPresent();
    }

    private Optional<Due> next(long end) {
        synchronized (dues) {
            Due first = dues.peek();
            return first == null || first.at() > end ? Optional.empty() : Optional.ofNullable(dues.poll());
        }
    }

    private Due add(Duration delay, Runnable task, boolean once) {
        synchronized (dues) {
            Due due = new Due(now + delay.toNanos(), count++, task, once);
            dues.add(due);
            return due;
        }
    }

    @Override
    public void after(Duration delay, Runnable task) {
        add(delay, task, true);
    }

    @Override
    public PeriodicTask every(Duration interval, String thread, Runnable task) {
        return new Repeated(interval, task);
    }

    /** Runs tasks at once, on the caller's thread. */
    @Override
    public Executor thread(String name) {
        return Runnable::run;
    }

    private final class Repeated implements PeriodicTask {

        private final Duration interval;
        private final Runnable task;
        private volatile boolean closed;

        Repeated(Duration interval, Runnable task) {
            this.interval = interval;
            this.task = task;
            addNext();
        }

        private void addNext() {
            add(interval, this::tick, false);
        }

        private void tick() {
            if (!closed) {
                try {
                    task.run();
                } finally {
                    addNext();
                }
            }
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
