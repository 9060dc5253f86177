package io.exactlyonce.chaos.history;

import java.util.List;

/**
 * Checks the fencing tokens of {@code EXTERNAL} handlers. The order of two claims is certain only if the second claim's
 * worker had not received any message of the key when the first claim's handler ran.
 */
final class TokenRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        if (key.isInDatabase()) {
            return;
        }
        List<Call> calls = key.calls();
        for (int later = 1; later < calls.size(); later++) {
            for (int earlier = 0; earlier < later; earlier++) {
                judge(key, calls.get(earlier), calls.get(later), findings);
            }
        }
    }

    private static void judge(KeyHistory key, Call earlier, Call later, Findings findings) {
        boolean same = earlier.token() == later.token();
        boolean shrunk = later.token() < earlier.token() && isCertainlyLater(key, later, earlier);
        if ((same || shrunk) && !findings.forgotten(key, earlier, later.entered())) {
            findings.violated(
                    Invariant.TOKENS_GROW,
                    key.key(),
                    same ? "two calls have one fencing token" : "a later claim has a smaller fencing token",
                    earlier.entered(),
                    later.entered());
        }
    }

    private static boolean isCertainlyLater(KeyHistory key, Call later, Call earlier) {
        return key.events().stream()
                .filter(event -> event.worker().equals(later.worker()))
                .findFirst()
                .map(first -> first.order() > earlier.entered().order())
                .orElse(false);
    }
}
