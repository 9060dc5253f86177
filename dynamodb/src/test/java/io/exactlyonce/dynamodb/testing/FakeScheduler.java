package io.exactlyonce.dynamodb.testing;

import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/** A scheduler that hands delayed tasks to a test. Tasks run on the thread of the caller. */
public final class FakeScheduler implements EngineScheduler {

    private final BiConsumer<Duration, Runnable> later;

    public FakeScheduler(BiConsumer<Duration, Runnable> later) {
        this.later = later;
    }

    /** Creates a scheduler that runs each task immediately. */
    public FakeScheduler() {
        this((delay, task) -> task.run());
    }

    @Override
    public void after(Duration delay, Runnable task) {
        later.accept(delay, task);
    }

    @Override
    public Executor thread(String name) {
        return Runnable::run;
    }

    @Override
    public long nanoTime() {
        throw new UnsupportedOperationException();
    }

    @Override
    public PeriodicTask every(Duration interval, String thread, Runnable task) {
        throw new UnsupportedOperationException();
    }
}
