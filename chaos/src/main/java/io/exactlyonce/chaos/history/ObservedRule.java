package io.exactlyonce.chaos.history;

/**
 * In observe mode, a key whose handler returned is completed, if no other worker had the key and no fault kept its
 * worker from the database. A duplicate is then recognised as soon as the listener is enforced.
 */
final class ObservedRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        if (!key.isMissing() && key.isObservedAlone() && !key.isCompleted()) {
            Event observed = key.first(Kind.OBSERVED).orElseThrow();
            key.handledInObserveMode()
                    .filter(handled -> !findings.mayBeUnrecorded(observed.worker(), observed, handled))
                    .forEach(handled -> findings.violated(
                            Invariant.OBSERVED_IS_RECORDED,
                            key.key(),
                            "handled in observe mode, and in the end its row is '%s'".formatted(key.status()),
                            observed,
                            handled));
        }
    }
}
