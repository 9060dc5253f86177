package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.Disposition;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Decides which deliveries a handler may get, in their order. On a FIFO queue a message that stays in its queue
 * stops the later ones of its group, which must not overtake it: their claims are released, and they are visible
 * again when their batch is done. The messages of a standard queue have no group, and stop no other.
 */
final class Admission {

    /** Empty, without a set of its own, for most. */
    private Set<String> stoppedGroups = Set.of();

    boolean admits(Delivery delivery, HandlerOutcome outcome) {
        if (isStopped(delivery)) {
            reject(delivery);
            return false;
        }
        if (delivery.attempt().isReady()) {
            return true;
        }
        if (delivery.attempt().isAcquired()) {
            outcome.add(delivery.attempt()
                    .claim()
                    .lost("its lease or timeout had expired, or its listener had stopped, "
                            + "before the handler was called"));
            delivery.attempt().release(FailedAttempt.NOT_CALLED);
        }
        stopGroupOf(delivery);
        return false;
    }

    /** Returns whether its handler is called now: its listener's stop may be faster. */
    boolean beginsHandling(Delivery delivery) {
        if (isStopped(delivery)) {
            reject(delivery);
            return false;
        }
        boolean enters = delivery.beginHandling();
        if (!enters) {
            stopGroupOf(delivery);
        }
        return enters;
    }

    /**
     * A message is not handled; unless its key is completed, or this is its last receive, the rest of its group
     * waits.
     */
    void stopGroupOf(Delivery delivery) {
        if (!delivery.attempt().group().isEmpty() && !delivery.leavesItsQueue()) {
            stoppedGroups = stoppedGroups.isEmpty() ? new HashSet<>() : stoppedGroups;
            stoppedGroups.add(delivery.attempt().group());
        }
    }

    boolean isStopped(Delivery delivery) {
        return stoppedGroups.contains(delivery.attempt().group());
    }

    private void reject(Delivery delivery) {
        if (delivery.attempt().isAcquired()) {
            delivery.attempt().release("an earlier message of its group comes first");
        }
        returnImmediately(delivery);
    }

    /** Makes its message visible when its batch is done, unless it is deleted: an earlier one of its group comes first. */
    static void returnImmediately(Delivery delivery) {
        delivery.decide(new Disposition.Return(Duration.ZERO));
    }
}
