package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.coalescing.PendingCall.Kind;
import io.exactlyonce.time.NanoClock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Counts the entries that wait, and holds callers up while there are too many: claims apart from ends, which claims must
 * not hold up.
 */
final class WaitingRoom {

    private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final CoalescingSettings terms;
    private final NanoClock clock;
    private final AtomicInteger claims = new AtomicInteger();
    private final AtomicInteger ends = new AtomicInteger();

    WaitingRoom(CoalescingSettings terms, NanoClock clock) {
        this.terms = terms;
        this.clock = clock;
    }

    /**
     * Enters as soon as there is room.
     *
     * @throws ClaimStoreBusyException if there is none in time, if the thread was interrupted meanwhile, or after closing
     */
    void enter(Kind kind, int entries, BooleanSupplier closed) {
        AtomicInteger same = of(kind);
        if (same.get() >= terms.maxWaiting()) {
            awaitRoom(same, closed);
        }
        if (closed.getAsBoolean()) {
            throw closed();
        }
        same.addAndGet(entries);
    }

    private void awaitRoom(AtomicInteger same, BooleanSupplier closed) {
        long deadline = clock.nanoTime() + terms.patience().toNanos();
        while (!closed.getAsBoolean() && same.get() >= terms.maxWaiting()) {
            LockSupport.parkNanos(this, CHECK_NANOS);
            if (Thread.currentThread().isInterrupted()) {
                throw new ClaimStoreBusyException("Interrupted while it waited for room among waiting entries");
            }
            if (deadline - clock.nanoTime() <= 0) {
                throw busy();
            }
        }
    }

    void leave(PendingCall entry) {
        of(entry.kind()).decrementAndGet();
    }

    int count() {
        return claims.get() + ends.get();
    }

    private AtomicInteger of(Kind kind) {
        return kind == Kind.CLAIM ? claims : ends;
    }

    ClaimStoreBusyException busy() {
        return new ClaimStoreBusyException(
                ("Nothing was asked of the store, for it was busy for %d ms, the longest wait in the queue of at most %d"
                                + " claims: find out what slows the database down, lower the concurrency of listeners, or"
                                + " raise exactly-once.claim.coalescing.patience")
                        .formatted(terms.patience().toMillis(), terms.maxWaiting()));
    }

    static ClaimStoreBusyException closed() {
        return new ClaimStoreBusyException("Nothing was asked of the store: claims have stopped with the application");
    }
}
