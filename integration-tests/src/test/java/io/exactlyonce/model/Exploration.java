package io.exactlyonce.model;

import java.util.List;

/**
 * The result of an exploration.
 *
 * @param states the number of states found
 * @param steps the number of steps between states
 * @param broken the broken rule, or empty
 * @param trace the shortest path to the broken rule
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
