package io.exactlyonce.chaos.history;

import java.util.List;

/** No message is deleted before a handler of its key returned, and no key is claimed after that. */
final class CompletionRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        key.firstEnd().ifPresent(end -> judgeEnd(key, end, findings));
        if (!key.isInDatabase()) {
            key.firstDone().ifPresent(done -> judgeCalls(key, done, findings));
        }
    }

    private static void judgeEnd(KeyHistory key, Event end, Findings findings) {
        boolean handled = key.all(Kind.HANDLED).anyMatch(event -> event.order() < end.order());
        // A reconciler may complete a key whose handler died, and so may an operator.
        if (!handled && !key.isSkipped() && !key.has("RECONCILE") && !key.mayBeDecidedDone(end)) {
            findings.lost(key.key(), "done before any handler had returned", List.of(end));
        }
    }

    private static void judgeCalls(KeyHistory key, Event done, Findings findings) {
        key.calls().stream()
                .filter(call -> key.isClaimedAfter(call, done))
                .filter(call -> !findings.forgotten(key.key(), key.completingFrom(done), done, call.entered()))
                .forEach(call -> findings.violated(
                        Invariant.COMPLETED_RUNS_NO_MORE,
                        key.key(),
                        "claimed again after it was completed",
                        done,
                        call.entered()));
    }
}
