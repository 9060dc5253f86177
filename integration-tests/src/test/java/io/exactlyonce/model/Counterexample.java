package io.exactlyonce.model;

import java.util.Set;
import java.util.stream.Collectors;

/**
 * A rule that breaks without a guard, with the fewest faults that break a rule.
 *
 * @param guard the missing guard
 */
record Counterexample(Guard guard, Exploration exploration) {

    private static final int RECEIVES = 2;
    private static final int MOST_FAULTS = 2;

    static Counterexample to(Guard guard) {
        for (int faults = 0; faults <= MOST_FAULTS; faults++) {
            Exploration exploration = Explorer.explore(guard.mode(), Set.of(guard), new Bounds(faults, RECEIVES));
            if (!exploration.isSafe()) {
                return new Counterexample(guard, exploration);
            }
        }
        throw new AssertionError("No rule is broken without " + guard);
    }

    /** Returns this counterexample as the documentation shows it. */
    String markdown() {
        String steps = exploration.trace().stream().map("1. %s\n"::formatted).collect(Collectors.joining());
        return """
                ## `%s`

                Enforced by `%s`; mode %s.
                Broken without it: **%s**.

                %s""".formatted(guard, guard.enforcer(), guard.mode(), exploration.broken(), steps);
    }

    @Override
    public String toString() {
        return guard.mode() + ", " + exploration;
    }
}
