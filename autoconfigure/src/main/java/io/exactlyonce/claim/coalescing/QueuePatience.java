package io.exactlyonce.claim.coalescing;

import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Refuses what has waited in the queue for too long, on a timer of the JDK's, since flushers may be stuck just then. One timer
 * is set at a time, and none while nothing waits.
 */
final class QueuePatience {

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ClaimQueue queue;
    private final AtomicBoolean isSet = new AtomicBoolean();

    QueuePatience(ClaimQueue queue) {
        this.queue = queue;
    }

    /** Watches what waits from now on. To be called after entries were added. */
    void watch() {
        if (isSet.get()) {
            return;
        }
        OptionalLong left = queue.untilFirstDeadline();
        if (left.isPresent() && isSet.compareAndSet(false, true)) {
            CompletableFuture.delayedExecutor(
                            Math.max(SHORTEST_NANOS, left.getAsLong()), TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(this::refuseOverdue);
        }
    }

    private void refuseOverdue() {
        isSet.set(false);
        List<PendingCall<?>> overdue = queue.withdrawOverdue();
        watch();
        overdue.forEach(entry -> {
            entry.fail(queue.busy());
            entry.show();
        });
    }
}
