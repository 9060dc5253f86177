package io.exactlyonce.dynamodb.request;

import io.exactlyonce.time.Jitter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Pauses between attempts: 50 ms, twice as long each time, each cut at random ("full jitter"), so that many workers do not come
 * back together. No thread waits.
 */
public final class Pauses {

    /** About 1.6 s in all, 3.1 s at most: as long as a claim waits for a connection to a database. */
    static final int ATTEMPTS = 6;

    private static final Duration FIRST = Duration.ofMillis(50);

    private final Jitter jitter;
    private final Function<Duration, Executor> after;

    /**
     * @param jitter cuts pauses
     * @param after runs something after so long
     */
    public Pauses(Jitter jitter, Function<Duration, Executor> after) {
        this.jitter = jitter;
        this.after = after;
    }

    /** Returns pauses in real time. */
    public static Pauses real(Jitter jitter) {
        return new Pauses(jitter, pause -> CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS));
    }

    /**
     * Returns a future that is done after the pause.
     *
     * @param attempt that has failed, counted from 1
     */
    CompletableFuture<Void> before(int attempt) {
        long most = FIRST.toNanos() << (attempt - 1);
        Duration pause = Duration.ofNanos((long) (most * jitter.next()));
        return CompletableFuture.runAsync(() -> {}, after.apply(pause));
    }
}
