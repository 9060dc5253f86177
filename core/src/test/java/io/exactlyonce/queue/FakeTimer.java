package io.exactlyonce.queue;

import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * A timer that runs tasks at once, whatever their delay, unless a test holds the timer. Tasks run on the caller's
 * thread.
 */
public class FakeTimer implements EngineScheduler {

    private final Deque<Runnable> due = new ArrayDeque<>();
    private final List<Duration> delays = new ArrayList<>();
    private final NanoClock clock;
    private boolean held;
    private boolean running;

    public FakeTimer(NanoClock clock) {
        this.clock = clock;
    }

    /** Creates a timer whose clock must not be read. */
    public FakeTimer() {
        this(() -> {
            throw new UnsupportedOperationException();
        });
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public PeriodicTask every(Duration interval, String thread, Runnable task) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Executor thread(String name) {
        return Runnable::run;
    }

    /** Makes all tasks wait for {@link #run()} from now on. */
    public synchronized void hold() {
        held = true;
    }

    /** Returns the requested delays. */
    public synchronized List<Duration> delays() {
        return List.copyOf(delays);
    }

    /** Runs the tasks that are due now, but not the tasks that they schedule. */
    public void run() {
        List<Runnable> now;
        synchronized (this) {
            now = List.copyOf(due);
            due.clear();
        }
        now.forEach(Runnable::run);
    }

    @Override
    public void after(Duration delay, Runnable task) {
        synchronized (this) {
            delays.add(delay);
            due.add(task);
            if (held || running) {
                return;
            }
            running = true;
        }
        // Tasks run one after the other, because endless repeats would use up the stack.
        for (Runnable next = next(); next != null; next = next()) {
            next.run();
        }
    }

    private synchronized Runnable next() {
        Runnable next = due.poll();
        running = next != null;
        return next;
    }
}
