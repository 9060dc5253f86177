package io.exactlyonce.model;

import io.exactlyonce.model.Row.Status;
import io.exactlyonce.model.Worker.Phase;

/** A handler whose effects, claim and completion are one transaction. It needs no lease. */
final class DatabaseMoves {

    private DatabaseMoves() {}

    static void collect(State state, int who, Steps steps) {
        switch (state.worker(who).phase()) {
            case CLAIMING -> claim(state, who, steps);
            case HANDLING -> write(state, who, steps);
            case CHECKED -> commit(state, who, steps);
            default -> EndMoves.collect(state, who, steps);
        }
    }

    private static void claim(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        boolean open = state.other(who).phase().isHandler();
        if (open && steps.has(Guard.ONE_TRANSACTION_PER_KEY)) {
            State told = state.with(who, worker.letGo(ClaimMoves.heldElsewhere(steps)));
            steps.add(who, "is told: held elsewhere", told);
        } else if (state.row().status() == Status.COMPLETED && steps.has(Guard.COMPLETED_KEY_STAYS_COMPLETED)) {
            steps.add(who, "is told: completed", state.with(who, worker.letGo(Phase.ACKNOWLEDGING)));
        } else {
            int attempt = state.history().attempts() + 1;
            State begun = state.with(state.history().acquired(attempt, false))
                    .with(who, worker.letGo(Phase.HANDLING).acquired(attempt).to(Phase.HANDLING));
            steps.add(who, "claims the key in its transaction", begun);
        }
    }

    private static void write(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        State written = state.with(who, worker.to(Phase.CHECKED));
        if (steps.lacks(Guard.EFFECT_COMMITS_WITH_THE_COMPLETION)) {
            written = written.with(state.history().effect(worker.attempt()));
        }
        steps.add(who, "writes its effect in its transaction", written);
        steps.fault(who, "fails, and rolls back", state.with(who, worker.to(Phase.RETURNING)));
    }

    private static void commit(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        Row row = new Row(Status.COMPLETED, worker.claim(), worker.attempt(), worker.attempt(), false, 0, -1);
        State committed = state.with(row).with(state.history().effect(worker.attempt()));
        steps.add(who, "commits", committed.with(who, worker.to(Phase.ACKNOWLEDGING)));
        steps.fault(who, "commits, and loses the reply", committed.with(who, worker.to(Phase.RETURNING)));
        steps.fault(who, "cannot commit", state.with(who, worker.to(Phase.RETURNING)));
    }
}
