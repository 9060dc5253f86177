package io.exactlyonce.model;

import io.exactlyonce.model.Worker.Phase;

/** Crashes and pauses, at any moment. A crashed worker restarts without its memory. */
final class FaultMoves {

    private FaultMoves() {}

    static void collect(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        if (worker.phase() == Phase.IDLE) {
            return;
        }
        State disturbed = state.with(state.history().disturb());
        Row row = HandlerMoves.unlocked(state.row(), who);
        steps.fault(who, "crashes", disturbed.with(row).with(who, Worker.IDLE));
        if (worker.paused()) {
            steps.add(who, "goes on", state.with(who, worker.paused(false)));
        } else {
            steps.fault(who, "stands still", disturbed.with(who, worker.paused(true)));
        }
    }
}
