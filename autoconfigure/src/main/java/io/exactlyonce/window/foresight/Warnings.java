package io.exactlyonce.window.foresight;

import io.exactlyonce.window.foresight.WindowWarning.Kind;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** Says each thing once, until there was a recovery. Not thread-safe. */
final class Warnings {

    /** Part of the window below which p95 has recovered: well below where it was near. */
    private static final double RECOVERED = 0.7;

    private static final double CALM_SECONDS = 600;

    private final Set<Kind> told = EnumSet.noneOf(Kind.class);
    private double troubledAt;

    Optional<WindowWarning> judge(double now, Situation situation) {
        Kind kind = kind(situation);
        if (kind != Kind.RECOVERED) {
            troubledAt = now;
            return tell(kind, situation);
        }
        if (situation.utilization() > RECOVERED) {
            troubledAt = now;
        }
        if (told.isEmpty() || now - troubledAt < CALM_SECONDS) {
            return Optional.empty();
        }
        told.clear();
        return Optional.of(situation.warning(Kind.RECOVERED));
    }

    private static Kind kind(Situation situation) {
        if (situation.isBreached()) {
            return Kind.BREACHED;
        }
        if (situation.isNear()) {
            return Kind.NEAR;
        }
        return situation.isBreachAhead() ? Kind.BREACH_AHEAD : Kind.RECOVERED;
    }

    /** What is worse includes what is less. */
    private Optional<WindowWarning> tell(Kind kind, Situation situation) {
        if (!told.add(kind) || (told.contains(Kind.BREACHED) && kind != Kind.BREACHED)) {
            return Optional.empty();
        }
        return Optional.of(situation.warning(kind));
    }
}
