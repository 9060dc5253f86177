package io.exactlyonce.dynamodb.request;

import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/** Pauses between attempts. No thread waits meanwhile. */
public final class Pauses {

    /** About 1.6 s in all, 3.1 s at most: as long as a claim waits for a connection to a database. */
    static final int ATTEMPTS = 6;

    private static final Duration FIRST = Duration.ofMillis(50);

    /** Each pause may be twice as long as the one before, and is shortened at random, so that many workers do not retry together. */
    private static final BackoffStrategy FULL_JITTER =
            BackoffStrategy.exponentialDelay(FIRST, FIRST.multipliedBy(1 << (ATTEMPTS - 1)));

    private final BackoffStrategy backoff;
    private final EngineScheduler scheduler;
    private final Executor thread;

    /**
     * @param backoff how long pauses are
     * @param scheduler ends them
     */
    public Pauses(BackoffStrategy backoff, EngineScheduler scheduler) {
        this.backoff = backoff;
        this.scheduler = scheduler;
        this.thread = scheduler.thread("exactly-once-dynamodb-retries-1");
    }

    /** Returns pauses of 50 ms at first, each twice as long as the one before, and all of them cut at random. */
    public static Pauses withFullJitter(EngineScheduler scheduler) {
        return new Pauses(FULL_JITTER, scheduler);
    }

    /**
     * Returns a future that is done after the pause. Requests that follow are sent on a thread of their own, because the
     * look-up of credentials may block.
     *
     * @param failed the attempt that has failed, from 1
     */
    CompletableFuture<Void> after(int failed) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        // The strategy counts the attempt that follows.
        scheduler.after(backoff.computeDelay(failed + 1), () -> over.completeAsync(() -> null, thread));
        return over;
    }
}
