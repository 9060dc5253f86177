package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.Disposition;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Decides which deliveries a handler may get, in their order.
 *
 * <p>Keeps the order of FIFO groups. If a message stays in its queue, the later messages of its group are not handled
 * either, because they would overtake it. Their claims are released, and they become visible again when their batch is
 * done.
 */
final class Admission {

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

    /** Starts the handling of a delivery. Returns false if its group or its listener was stopped first. */
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
     * Stops the later messages of the group, because this message is not handled. Does nothing if this message leaves
     * its queue (because it is deleted, or because this was its last receive).
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

    /**
     * Makes the message visible again without a delay, because an earlier message of its group comes first. Has no
     * effect on a message that is to be deleted.
     */
    static void returnImmediately(Delivery delivery) {
        delivery.decide(new Disposition.Return(Duration.ZERO));
    }
}
