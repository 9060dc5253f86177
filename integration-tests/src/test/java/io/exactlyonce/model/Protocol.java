package io.exactlyonce.model;

import java.util.List;
import java.util.Set;

/** Lists every possible next step of any state. */
final class Protocol {

    private final Mode mode;
    private final Set<Guard> missing;
    private final int allFaults;

    /**
     * Makes a protocol.
     *
     * @param missing the guards that are left out
     * @param allFaults the most faults that may happen in total
     */
    Protocol(Mode mode, Set<Guard> missing, int allFaults) {
        this.mode = mode;
        this.missing = missing;
        this.allFaults = allFaults;
    }

    List<Step> from(State state) {
        Steps steps = new Steps(mode, missing, allFaults);
        WorldMoves.collect(state, steps);
        for (int who = 0; who < State.WORKERS; who++) {
            if (!state.worker(who).paused()) {
                act(state, who, steps);
            }
            FaultMoves.collect(state, who, steps);
        }
        return steps.all();
    }

    private void act(State state, int who, Steps steps) {
        WorldMoves.collect(state, who, steps);
        if (state.isTransactional(who)) {
            DatabaseMoves.collect(state, who, steps);
        } else {
            ClaimMoves.collect(state, who, steps);
            HandlerMoves.collect(state, who, steps);
            EndMoves.collect(state, who, steps);
        }
    }
}
