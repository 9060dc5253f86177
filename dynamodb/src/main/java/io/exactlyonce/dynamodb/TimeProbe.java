package io.exactlyonce.dynamodb;

import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.request.ItemReader;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/** Asks the service for the time before claims are made whose leases would have no end: at the start, and after idle minutes. */
final class TimeProbe {

    /** Where a proxy strips {@code Date}, asking does not help, so it must not cost a request for each claim. */
    static final Duration INTERVAL = Duration.ofSeconds(5);

    private final LeaseClock leases;
    private final ItemReader reader;
    private final NanoClock clock;
    private final AtomicLong next;

    TimeProbe(LeaseClock leases, ItemReader reader, NanoClock clock) {
        this.leases = leases;
        this.reader = reader;
        this.clock = clock;
        this.next = new AtomicLong(clock.nanoTime());
    }

    /** Returns when the time is known, or cannot be. A failure shows in what is asked next, too. */
    CompletableFuture<Void> prepare() {
        long due = next.get();
        long now = clock.nanoTime();
        if (!leases.lacksTime() || now - due < 0 || !next.compareAndSet(due, now + INTERVAL.toNanos())) {
            return CompletableFuture.completedFuture(null);
        }
        return reader.probe().exceptionally(unanswered -> null);
    }
}
