package io.exactlyonce.chaos.history;

/**
 * No check passes that began when a later claim was proved already. A check that began before that may end, or be recorded,
 * at any time after: a worker can be paused in it.
 */
final class HolderRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        if (!key.isInDatabase()) {
            key.calls().forEach(call -> judge(key, call, findings));
        }
    }

    private static void judge(KeyHistory key, Call call, Findings findings) {
        call.all(Kind.CHECKED)
                .forEach(passed -> call.lastCheckBefore(after(passed))
                        .ifPresent(began -> key.latestClaimBefore(began)
                                .filter(claim -> claim.number(Detail.TOKEN) > call.token())
                                .filter(claim -> !findings.forgotten(key, call, claim))
                                .ifPresent(claim -> findings.violated(
                                        Invariant.ONE_HOLDER,
                                        key.key(),
                                        "a check passed that began after a later claim was held",
                                        call.entered(),
                                        claim,
                                        began,
                                        passed))));
    }

    /** A stand-in for the event after this one. */
    private static Event after(Event event) {
        return event.recorded(event.order() + 1, event.micros());
    }
}
