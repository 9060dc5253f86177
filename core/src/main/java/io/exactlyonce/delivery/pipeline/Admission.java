package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.Disposition;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Decides in order which deliveries a handler may get.
 *
 * <p>On a FIFO queue, a message that stays in its queue stops the later messages of its group, because they must not
 * overtake it. The claims of these later messages are released, and the messages become visible again when their batch
 * is done. Messages of a standard queue have no group, so none of them stops others.
 */
final class Admission {

    /** A shared empty set until the first group is stopped. */
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

    /**
     * Returns whether the delivery's handler is called now. Returns false if the delivery's group is stopped, or if the
     * listener stopped first.
     */
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
     * Stops the later messages of this message's group, because this message is not handled. Does nothing if this
     * message leaves its queue: it is to be deleted, or this was its last receive.
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
     * Makes the message visible when its batch is done, because an earlier message of its group comes first. Has no
     * effect on a message that is to be deleted.
     */
    static void returnImmediately(Delivery delivery) {
        delivery.decide(new Disposition.Return(Duration.ZERO));
    }
}
