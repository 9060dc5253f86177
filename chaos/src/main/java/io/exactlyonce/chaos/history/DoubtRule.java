package io.exactlyonce.chaos.history;

/**
 * An {@code EXTERNAL} handler that is not told of a doubt has no earlier attempt that ended without an outcome. An attempt that
 * failed has reported; one that was about to return normally has not, for its key would be completed.
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
                                "an attempt is not told that an earlier one has not reported",
                                earlier.entered(),
                                call.entered())));
    }
}
