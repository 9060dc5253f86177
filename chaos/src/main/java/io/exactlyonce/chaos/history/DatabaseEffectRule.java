package io.exactlyonce.chaos.history;

import java.util.List;

/** Each key has at most one row, whatever fails over. {@link OutcomeRule} requires that a completed key has a row. */
final class DatabaseEffectRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        List<Event> rows = key.all(Kind.ROW).toList();
        if (rows.size() > 1) {
            findings.duplicated(
                    Invariant.DATABASE_EFFECT_ONCE,
                    key.key(),
                    rows.size() - 1L,
                    "its handler's row exists %d times".formatted(rows.size()),
                    rows);
        }
    }
}
