package io.exactlyonce.chaos.history;

import java.util.List;

/** At most one row for each key, whatever failed over. That there is one at all is {@link OutcomeRule}'s. */
final class DatabaseEffectRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        List<Event> rows = key.all(Kind.ROW).toList();
        if (rows.size() > 1) {
            findings.duplicated(
                    Invariant.DATABASE_EFFECT_ONCE,
                    key.key(),
                    rows.size() - 1L,
                    "its handler's row is there %d times".formatted(rows.size()),
                    rows);
        }
    }
}
