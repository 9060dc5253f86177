package io.exactlyonce.claim.coalescing;

import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Refuses what has waited in the queue for too long, on a timer, since flushers may be stuck just then. One is set at a time, and
 * none while nothing waits.
 */
final class QueuePatience {

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ClaimQueue queue;
    private final Timer timer;
    private final AtomicBoolean isSet = new AtomicBoolean();

    /** @param timer whose thread never waits for the store */
    QueuePatience(ClaimQueue queue, Timer timer) {
        this.queue = queue;
        this.timer = timer;
    }

    /**
     * Watches what waits from now on. To be called after entries were added. Throws nothing, since these are on their way: where no
     * timer can be set, as when the system refuses a thread, they wait for a flusher, or for the next call that can set one.
     */
    void watch() {
        if (isSet.get()) {
            return;
        }
        OptionalLong left = queue.untilFirstDeadline();
        if (left.isPresent() && isSet.compareAndSet(false, true)) {
            try {
                timer.after(Duration.ofNanos(Math.max(SHORTEST_NANOS, left.getAsLong())), this::refuseOverdue);
            } catch (Throwable refused) {
                isSet.set(false);
            }
        }
    }

    private void refuseOverdue() {
        isSet.set(false);
        List<PendingCall<?>> overdue = queue.withdrawOverdue();
        watch();
        overdue.forEach(entry -> entry.refuse(queue.busy()));
    }
}
