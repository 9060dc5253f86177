package io.exactlyonce.model;

import io.exactlyonce.model.Worker.Phase;

/**
 * A handler with effects outside of the claim's transaction. The handler checks its claim, has its effect, and returns
 * or is stopped.
 */
final class HandlerMoves {

    private HandlerMoves() {}

    static void collect(State state, int who, Steps steps) {
        switch (state.worker(who).phase()) {
            case HANDLING -> check(state, who, steps);
            case CHECKED -> effect(state, who, steps);
            case DONE -> steps.add(who, "returns from its handler", state.with(who, done(state, who)));
            default -> {}
        }
        if (state.worker(who).phase().isHandler()) {
            stop(state, who, steps);
        }
    }

    private static Worker done(State state, int who) {
        return state.worker(who).to(Phase.COMPLETING);
    }

    private static void check(State state, int who, Steps steps) {
        if (steps.mode() == Mode.FENCED) {
            fence(state, who, steps);
        } else {
            ensureHeld(state, who, steps);
        }
        if (steps.mode() == Mode.LIMITED) {
            State thrown = state.with(who, state.worker(who).giveUp(Phase.FAILING, false));
            steps.add(
                    who, "throws before its effect", thrown.with(state.history().failed()));
            return;
        }
        State failed = state.with(who, state.worker(who).giveUp(Phase.RELEASING, false));
        steps.fault(who, "fails before its effect", failed);
        steps.fault(who, "fails for good before its effect", state.with(who, parking(state.worker(who))));
    }

    /** The handler threw an exception that {@code parkFor} names. */
    private static Worker parking(Worker worker) {
        return worker.giveUp(Phase.PARKING, false);
    }

    private static void ensureHeld(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        if (worker.lease() > 0 || steps.lacks(Guard.ENSURE_HELD_ASKS_THE_CLOCK)) {
            boolean ours = state.row().isHeldBy(worker.claim());
            State passed = state.with(who, worker.to(Phase.CHECKED));
            steps.add(who, "passes ensureHeld()", passed, ours, Rules.ENSURE_HELD_PASSES_FOR_THE_HOLDER);
        } else {
            steps.add(who, "fails in ensureHeld()", state.with(who, worker.giveUp(Phase.RELEASING, false)));
        }
    }

    private static void fence(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        if (state.row().isHeldBy(worker.claim()) || steps.lacks(Guard.FENCE_NAMES_ITS_CLAIM)) {
            State locked = state.with(state.row().fenced(who)).with(who, worker.to(Phase.CHECKED));
            steps.add(who, "locks the row with fence()", locked);
        } else {
            steps.add(who, "fails in fence()", state.with(who, worker.giveUp(Phase.RELEASING, false)));
        }
    }

    private static void effect(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        State done = state.with(who, worker.to(Phase.DONE)).with(state.history().effect(worker.attempt()));
        if (steps.mode() == Mode.FENCED) {
            boolean ours = state.row().isHeldBy(worker.claim());
            State committed = done.with(unlocked(state.row(), who));
            steps.add(who, "commits its fenced effect", committed, ours, Rules.FENCED_EFFECT_COMMITS_FOR_THE_HOLDER);
        } else {
            steps.add(who, "has its effect", done);
        }
    }

    /** Releases the row's lock, at any end of a transaction. */
    static Row unlocked(Row row, int who) {
        return row.fencedBy() == who ? row.fenced(-1) : row;
    }

    /**
     * Interrupts the handler, because the lease expired or the listener stops. The handler may ignore the interrupt.
     */
    private static void stop(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        Phase end = steps.mode() == Mode.PARK ? Phase.PARKING : Phase.RELEASING;
        if (steps.mode() == Mode.LIMITED && steps.lacks(Guard.STOPPED_HANDLER_IS_NO_FAILURE)) {
            end = Phase.FAILING;
        }
        boolean doubt = steps.has(Guard.STOPPED_HANDLER_LEAVES_A_DOUBT);
        State stopped = state.with(unlocked(state.row(), who)).with(who, worker.giveUp(end, doubt));
        if (worker.lease() == 0) {
            steps.add(who, "is interrupted, and heeds it", stopped);
        } else {
            steps.fault(
                    who,
                    "is interrupted by a shutdown",
                    stopped.with(state.history().disturb()));
        }
    }
}
