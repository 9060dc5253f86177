package io.exactlyonce.time;

import io.exactlyonce.boundary.Boundary;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs tasks later, without a sleeping thread. */
@FunctionalInterface
public interface Timer {

    /** The JDK's own timer. One thread runs the tasks of all of them, so that none may block. */
    Timer SYSTEM =
            (delay, task) -> CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(() -> Boundary.guard("What was due later", task));

    /** Runs a task once, after a delay; it must not block. */
    void after(Duration delay, Runnable task);
}
