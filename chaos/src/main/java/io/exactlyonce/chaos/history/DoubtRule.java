package io.exactlyonce.chaos.history;

/**
 * If an {@code EXTERNAL} handler is not informed of a doubt, every earlier attempt of its key must have reported an
 * outcome. An attempt that failed reported its outcome. An attempt that was about to return normally did not, because
 * otherwise its key would be completed.
 */
final class DoubtRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        if (key.isInDatabase()) {
            return;
        }
        key.calls().stream()
                .filter(call -> !call.knowsOfDoubt())
                .forEach(call -> key.calls().stream()
                        .filter(earlier ->
                                earlier.entered().order() < call.entered().order())
                        .filter(earlier -> earlier.token() < call.token() && !earlier.failedBefore(call.entered()))
                        .filter(earlier -> !findings.forgotten(key, earlier, call.entered()))
                        .forEach(earlier -> findings.violated(
                                Invariant.DOUBT_IS_TOLD,
                                key.key(),
                                "an attempt was not told of an earlier attempt without an outcome",
                                earlier.entered(),
                                call.entered())));
    }
}
