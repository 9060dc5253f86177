package io.exactlyonce.dynamodb.request;

import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/** Delays before a failed request is repeated. No thread is blocked meanwhile. */
public final class Pauses {

    /** Maximum number of repetitions. All delays together take about 1.6 s on average, and at most 3.15 s. */
    static final int ATTEMPTS = 6;

    private static final Duration FIRST = Duration.ofMillis(50);

    /**
     * Random delays, so that many workers do not retry at the same time. The upper limit of a delay doubles with each
     * attempt.
     */
    private static final BackoffStrategy FULL_JITTER =
            BackoffStrategy.exponentialDelay(FIRST, FIRST.multipliedBy(1 << (ATTEMPTS - 1)));

    private final BackoffStrategy backoff;
    private final EngineScheduler scheduler;
    private final Executor thread;

    /**
     * @param backoff computes the delays
     * @param scheduler the timer
     */
    public Pauses(BackoffStrategy backoff, EngineScheduler scheduler) {
        this.backoff = backoff;
        this.scheduler = scheduler;
        this.thread = scheduler.thread("exactly-once-dynamodb-retries-1");
    }

    /** Makes random delays. The first one takes at most 50 ms, and this limit doubles with each attempt. */
    public static Pauses withFullJitter(EngineScheduler scheduler) {
        return new Pauses(FULL_JITTER, scheduler);
    }

    /**
     * Returns a future that completes after the delay, on a thread of its own. The next request is sent on this thread,
     * and looking up credentials may block it.
     *
     * @param failed the number of the failed attempt, from 1
     */
    CompletableFuture<Void> after(int failed) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        // The SDK expects the number of the attempt that follows the delay.
        scheduler.after(backoff.computeDelay(failed + 1), () -> over.completeAsync(() -> null, thread));
        return over;
    }
}
