package io.exactlyonce.dynamodb.request;

import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/** Pauses before an attempt is repeated. No thread waits during a pause. */
public final class Pauses {

    /**
     * The most repetitions of an attempt. The pauses before all repetitions take about 1.6 s together, and at most 3.1
     * s. A claim waits about as long for a connection to a database.
     */
    static final int ATTEMPTS = 6;

    private static final Duration FIRST = Duration.ofMillis(50);

    /**
     * Doubles the longest pause with each attempt. The length of each pause is random, up to the longest pause, so that
     * many workers do not retry at the same time.
     */
    private static final BackoffStrategy FULL_JITTER =
            BackoffStrategy.exponentialDelay(FIRST, FIRST.multipliedBy(1 << (ATTEMPTS - 1)));

    private final BackoffStrategy backoff;
    private final EngineScheduler scheduler;
    private final Executor thread;

    /**
     * @param backoff the lengths of the pauses
     * @param scheduler completes the pauses
     */
    public Pauses(BackoffStrategy backoff, EngineScheduler scheduler) {
        this.backoff = backoff;
        this.scheduler = scheduler;
        this.thread = scheduler.thread("exactly-once-dynamodb-retries-1");
    }

    /**
     * Returns pauses of random length. The first pause takes at most 50 ms, and each later pause may take twice as long
     * as the pause before.
     */
    public static Pauses withFullJitter(EngineScheduler scheduler) {
        return new Pauses(FULL_JITTER, scheduler);
    }

    /**
     * Returns a future that completes after the pause. It completes on another thread than the scheduler's, because
     * that thread sends the next request, and may block while it looks up credentials.
     *
     * @param failed the number of the failed attempt, counted from 1
     */
    CompletableFuture<Void> after(int failed) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        // The strategy expects the number of the attempt that follows the pause.
        scheduler.after(backoff.computeDelay(failed + 1), () -> over.completeAsync(() -> null, thread));
        return over;
    }
}
