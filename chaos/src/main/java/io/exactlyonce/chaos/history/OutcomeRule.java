package io.exactlyonce.chaos.history;

import java.util.List;

/** Checks the outcome of each message that SQS accepted. */
final class OutcomeRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        // MissingKeyRule judges messages without a claim.
        if (key.isMissing() || isDoneUnrecorded(key)) {
            return;
        }
        if (key.status().equals("HELD") && !key.has(Kind.DEAD_LETTERED) && !isForgotten(key, findings)) {
            findings.stuck(key.key(), "its claim is held when all is done", last(key));
        } else if (key.isCompleted()) {
            judgeCompleted(key, findings);
        } else if (!key.status().equals("HELD") && key.has(Kind.SENT) && !key.isParkedOrDead()) {
            judgeUnfinished(key, findings);
        }
    }

    private static void judgeCompleted(KeyHistory key, Findings findings) {
        boolean happened = key.isInDatabase()
                ? key.has(Kind.ROW)
                : key.has(Kind.EFFECT) || key.has(Partner.NONE) || key.has("RECONCILE");
        // A transaction is lost as a whole in a failover, and never in part.
        boolean isPart = key.isInDatabase() && key.status().equals("COMPLETED");
        if (!happened && (isPart || !isForgotten(key, findings))) {
            findings.lost(key.key(), "completed without its effect", last(key));
        }
    }

    private static void judgeUnfinished(KeyHistory key, Findings findings) {
        if (key.firstDone().isEmpty()) {
            findings.stuck(
                    key.key(), "neither completed, nor parked, nor in the dead-letter queue, nor deleted", last(key));
        } else if (!isForgotten(key, findings)) {
            findings.lost(
                    key.key(), "deleted, but neither completed, nor parked, nor in the dead-letter queue", last(key));
        }
    }

    /**
     * In observe mode, a message is deleted whether its key could be completed or not. {@link ObservedRule} judges such
     * keys.
     */
    private static boolean isDoneUnrecorded(KeyHistory key) {
        return !key.isCompleted()
                && key.firstDone().isEmpty()
                && key.handledInObserveMode().findAny().isPresent();
    }

    private static boolean isForgotten(KeyHistory key, Findings findings) {
        return key.firstDone()
                .filter(done -> findings.forgottenInTheEnd(key.key(), key.completingFrom(done), done))
                .isPresent();
    }

    private static List<Event> last(KeyHistory key) {
        return List.of(key.events().get(key.events().size() - 1));
    }
}
