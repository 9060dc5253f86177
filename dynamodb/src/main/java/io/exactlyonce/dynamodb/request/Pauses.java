package io.exactlyonce.dynamodb.request;

import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/** Pauses between attempts, without a waiting thread. */
public final class Pauses {

    /**
     * The most attempts. Their pauses take about 1.6 s together, at most 3.1 s, which is as long as a claim waits for a
     * connection to a database.
     */
    static final int ATTEMPTS = 6;

    private static final Duration FIRST = Duration.ofMillis(50);

    /**
     * Doubles the longest pause with each attempt. Each pause has a random length below it, so that many workers do not
     * retry together.
     */
    private static final BackoffStrategy FULL_JITTER =
            BackoffStrategy.exponentialDelay(FIRST, FIRST.multipliedBy(1 << (ATTEMPTS - 1)));

    private final BackoffStrategy backoff;
    private final EngineScheduler scheduler;
    private final Executor thread;

    /**
     * @param backoff the lengths of the pauses
     * @param scheduler ends the pauses
     */
    public Pauses(BackoffStrategy backoff, EngineScheduler scheduler) {
        this.backoff = backoff;
        this.scheduler = scheduler;
        this.thread = scheduler.thread("exactly-once-dynamodb-retries-1");
    }

    /**
     * Returns pauses of at most 50 ms at first. Each later pause may be twice as long as the one before, and all have a
     * random length.
     */
    public static Pauses withFullJitter(EngineScheduler scheduler) {
        return new Pauses(FULL_JITTER, scheduler);
    }

    /**
     * Returns a future that completes after the pause, on another thread than the scheduler's, because the next request
     * may block while it looks up credentials.
     *
     * @param failed the number of the failed attempt, counted from 1
     */
    CompletableFuture<Void> after(int failed) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        // The strategy expects the number of the next attempt.
        scheduler.after(backoff.computeDelay(failed + 1), () -> over.completeAsync(() -> null, thread));
        return over;
    }
}
