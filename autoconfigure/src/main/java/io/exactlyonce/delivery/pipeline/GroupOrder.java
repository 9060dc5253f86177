package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.delivery.ClaimWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Says which deliveries a handler may be given, asked in their order. On a FIFO queue a message that stays in its queue
 * stops the later ones of its group, which must not overtake it: their claims are given back, and they are visible again
 * when their batch is done. The messages of a standard queue have no group, and stop no other.
 */
final class GroupOrder {

    private final Batch batch;
    private final Set<String> stoppedGroups = new HashSet<>();
    private final List<Attempt> givenBack = new ArrayList<>(0);
    private final List<ClaimEnd.Released> releases = new ArrayList<>(0);

    GroupOrder(Batch batch) {
        this.batch = batch;
    }

    /**
     * Admits deliveries right before their handler is called. The claims of the rest are given back; those that are admitted are
     * asked again after it.
     */
    static List<Attempt> admit(List<Attempt> attempts, Batch batch, ClaimWriter writer) {
        GroupOrder order = new GroupOrder(batch);
        List<Attempt> admitted = attempts.stream().filter(order::admits).toList();
        if (order.givenBack.isEmpty()) {
            return admitted;
        }
        order.giveBack(writer);
        return admit(admitted, batch, writer);
    }

    boolean admits(Attempt attempt) {
        if (isStopped(attempt)) {
            sendBack(attempt);
            return false;
        }
        if (attempt.isHeld()) {
            return true;
        }
        if (attempt.isAcquired()) {
            batch.addFailure(attempt.lost(
                    "its lease was over, its time was up, or its listener had stopped, before the handler was called"));
            giveBack(attempt, FailedAttempt.NOT_CALLED);
        }
        stopGroupOf(attempt);
        return false;
    }

    /** Returns whether its handler is called now: its listener's stop may be faster. */
    boolean enters(Attempt attempt) {
        if (stoppedGroups.contains(attempt.group())) {
            sendBack(attempt);
            return false;
        }
        boolean enters = attempt.delivery().beginHandling();
        if (!enters) {
            stopGroupOf(attempt);
        }
        return enters;
    }

    /** A message is not handled; unless its key is completed, or its queue gives it up now, the rest of its group waits. */
    void stopGroupOf(Attempt attempt) {
        if (!attempt.group().isEmpty() && !attempt.delivery().leavesItsQueue()) {
            stoppedGroups.add(attempt.group());
        }
    }

    /** Returns whether a message of its group that was asked for before stays in its queue. */
    boolean isStopped(Attempt attempt) {
        return stoppedGroups.contains(attempt.group());
    }

    private void sendBack(Attempt attempt) {
        if (attempt.isAcquired()) {
            giveBack(attempt, "an earlier message of its group comes first");
        }
        if (!attempt.delivery().isAcknowledged()) {
            attempt.yieldToItsGroup();
        }
    }

    private void giveBack(Attempt attempt, String reason) {
        attempt.giveBack(reason).ifPresent(release -> {
            givenBack.add(attempt);
            releases.add(release);
        });
    }

    /**
     * Releases the claims of those that were not admitted although they acquired their keys: together, and without a doubt. Each
     * leaves when that is answered, or was asked for the last time.
     */
    void giveBack(ClaimWriter writer) {
        if (!givenBack.isEmpty()) {
            CompletableFuture<Void> released = writer.release(releases);
            givenBack.forEach(attempt -> attempt.endsWith(released));
        }
    }

    /** Admits none, and releases the claims of those that acquired their keys. */
    static void refuse(List<Attempt> attempts, ClaimWriter writer) {
        GroupOrder order = new GroupOrder(new Batch(attempts));
        attempts.forEach(attempt -> order.giveBack(attempt, FailedAttempt.NOT_CALLED));
        order.giveBack(writer);
    }
}
