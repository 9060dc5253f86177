package io.exactlyonce.chaos.history;

/**
 * A check must not pass if it started after a later claim was proved. A check that started earlier may end, or be
 * recorded, at any later time, because a worker can be paused in it.
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
                                        "a check passed that started after a later claim was held",
                                        call.entered(),
                                        claim,
                                        began,
                                        passed))));
    }

    /** Returns a stand-in for the next event. */
    private static Event after(Event event) {
        return event.recorded(event.order() + 1, event.micros());
    }
}
