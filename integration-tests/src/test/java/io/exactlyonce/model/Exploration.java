package io.exactlyonce.model;

import java.util.List;

/**
 * The result of an exploration.
 *
 * @param states the number of states found
 * @param steps how many steps lead from one to another
 * @param broken the rule that is broken; empty if none is
 * @param trace the shortest way there
 */
record Exploration(int states, long steps, String broken, List<String> trace) {

    boolean isSafe() {
        return broken.isEmpty();
    }

    @Override
    public String toString() {
        return isSafe()
                ? "%d states, %d steps: every rule is kept".formatted(states, steps)
                : "broken: %s%n  %s".formatted(broken, String.join("\n  ", trace));
    }
}
