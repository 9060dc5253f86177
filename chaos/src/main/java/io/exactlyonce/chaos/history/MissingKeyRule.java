package io.exactlyonce.chaos.history;

import java.util.List;

/**
 * Checks messages without a key. A skipped message is deleted without its handler. A message that is handled without a
 * claim is deleted only after its handler returned, which {@link CompletionRule} checks. No message without a key is
 * lost.
 */
final class MissingKeyRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        if (!key.isMissing()) {
            return;
        }
        key.calls()
                .forEach(call -> findings.violated(
                        Invariant.MISSING_KEY_DECIDED, key.key(), "claimed without a key", call.entered()));
        if (key.isSkipped()) {
            key.all(Kind.OBSERVED)
                    .forEach(called -> findings.violated(
                            Invariant.MISSING_KEY_DECIDED, key.key(), "handled, and was to be skipped", called));
        }
        if (key.has(Kind.STATE)) {
            findings.violated(
                    Invariant.MISSING_KEY_DECIDED,
                    key.key(),
                    "without a key it has a row",
                    key.first(Kind.STATE).orElseThrow());
        }
        if (key.has(Kind.SENT) && key.firstEnd().isEmpty() && !key.has(Kind.DEAD_LETTERED)) {
            findings.stuck(
                    key.key(),
                    "neither deleted nor in the dead-letter queue",
                    List.of(key.events().get(key.events().size() - 1)));
        }
    }
}
