package io.exactlyonce.model;

import io.exactlyonce.model.Row.Status;

/** Operators decide on a parked key: one operator at once, and another one who saw the key some time ago. */
final class OperatorMoves {

    private OperatorMoves() {}

    static void collect(State state, Steps steps) {
        Row row = state.row();
        boolean parked = row.status() == Status.PARKED;
        // A second release would restart the count like the first release.
        if (parked && (steps.mode() == Mode.PARK || state.history().runs() == 0)) {
            decide(state, "decides at once", true, steps);
            // A decision on a later parking would be the same.
            if (state.seen() == 0 && state.history().runs() == 0 && steps.mode() == Mode.PARK) {
                steps.operator("sees the parked key", state.withSeen(row.claim()), true);
            }
        }
        if (state.seen() != 0) {
            State decided = state.withSeen(0);
            boolean same = row.claim() == state.seen();
            boolean named = same || steps.lacks(Guard.DECISION_NAMES_ITS_CLAIM);
            boolean asked =
                    parked || (row.status() != Status.ABSENT && steps.lacks(Guard.DECISION_ASKS_FOR_A_PARKED_KEY));
            if (named && asked) {
                decide(decided, "decides on what it saw", same && parked, steps);
            } else {
                steps.operator("decides too late", decided, true);
            }
        }
    }

    private static void decide(State state, String how, boolean kept, Steps steps) {
        Row row = state.row();
        Row released = steps.has(Guard.RELEASED_KEY_COUNTS_ANEW)
                ? row.released()
                : row.released().failing(row.failures());
        State again = state.with(released).with(state.history().runAgain());
        State done = state.with(row.to(Status.COMPLETED)).with(state.history().calledDone());
        steps.operator(how + ": the key may run again", again, kept);
        steps.operator(how + ": the effect has happened", done, kept);
    }
}
