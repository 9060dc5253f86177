package io.exactlyonce.model;

import io.exactlyonce.model.Row.Status;
import io.exactlyonce.model.Worker.Phase;
import java.util.Objects;

/**
 * A handler whose effects and completion are one transaction. The transaction reads the key's row before the handler
 * and writes it at its end, and needs no lease.
 */
final class DatabaseMoves {

    private DatabaseMoves() {}

    static void collect(State state, int who, Steps steps) {
        switch (state.worker(who).phase()) {
            case CLAIMING -> look(state, who, steps);
            case HANDLING -> write(state, who, steps);
            case CHECKED -> commit(state, who, steps);
            case PARKS_ANEW -> parkAnew(state, who, steps);
            default -> EndMoves.collect(state, who, steps);
        }
    }

    private static void look(State state, int who, Steps steps) {
        Row row = state.row();
        boolean open = state.isLocked(who);
        if (row.status() != Status.ABSENT && !ClaimMoves.mayTakeOver(row, steps)) {
            ClaimMoves.refuse(state, who, row.status(), steps);
        } else if (open && steps.has(Guard.ONE_TRANSACTION_PER_KEY)) {
            ClaimMoves.refuse(state, who, Status.HELD, steps);
        } else {
            boolean doubt = row.status() != Status.ABSENT && row.isNextInDoubt();
            int attempt = state.history().attempts() + 1;
            State handling = state.with(state.history().acquired(0, doubt))
                    .with(who, state.worker(who).working(Phase.HANDLING, attempt, row));
            steps.add(who, "locks the key and finds it free", handling, !open, Rules.TRANSACTIONS_TAKE_TURNS);
        }
    }

    private static void write(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        State written = state.with(who, worker.working(Phase.CHECKED, worker.attempt(), met(worker)));
        if (steps.lacks(Guard.EFFECT_COMMITS_WITH_THE_COMPLETION)) {
            written = written.with(state.history().effect(worker.attempt()));
        }
        steps.add(who, "writes its effect in its transaction", written);
        steps.fault(who, "fails, and rolls back", state.with(who, worker.to(Phase.RETURNING)));
        steps.fault(who, "fails for good, and rolls back", state.with(who, worker.giveUp(Phase.PARKS_ANEW, false)));
    }

    /** Another worker claims the key in the usual way, even during this worker's transaction, and then parks it. */
    private static void parkAnew(State state, int who, Steps steps) {
        Row row = state.row();
        Worker worker = state.worker(who);
        State returning = state.with(who, worker.letGo(Phase.RETURNING));
        if (row.status() != Status.ABSENT && !ClaimMoves.mayTakeOver(row, steps)) {
            steps.add(who, "parks nothing, for another claim was first", returning);
        } else {
            State held = ClaimMoves.acquired(state, worker.claim(), row, worker.message(), steps);
            boolean taken = ClaimMoves.holdsByItsOwnClock(state.other(who), row);
            Worker parking = worker.giveUp(Phase.PARKING, false).times(worker.window(), Steps.TICKS);
            steps.add(
                    who,
                    "claims the key to park it",
                    held.with(who, parking),
                    !taken && held.row().token() > state.history().topToken(),
                    taken ? Rules.HOLDER_KEEPS_ITS_KEY : Rules.TOKENS_GROW);
        }
        steps.fault(
                who,
                "gets no answer when it would park",
                returning.with(state.history().disturb()));
    }

    private static void commit(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        State returning = state.with(who, worker.to(Phase.RETURNING));
        Row met = met(worker);
        if (!isAsRead(state.row(), met) && steps.has(Guard.ROW_DECIDES_AT_THE_COMMIT)) {
            steps.add(who, "finds another row at the end, and rolls back", returning);
            return;
        }
        int token = met.token() + 1;
        boolean taken = ClaimMoves.holdsByItsOwnClock(state.other(who), state.row());
        Row row = new Row(Status.COMPLETED, worker.claim(), worker.attempt(), token, met.doubt(), 0, -1, false, 0, 0);
        State committed = state.with(row).with(state.history().committed(token, worker.attempt()));
        steps.add(
                who,
                "writes the completed row and commits",
                committed.with(who, worker.to(Phase.ACKNOWLEDGING)),
                !taken && token > state.history().topToken(),
                taken ? Rules.HOLDER_KEEPS_ITS_KEY : Rules.TOKENS_GROW);
        steps.fault(who, "commits, and loses the reply", committed.with(who, worker.to(Phase.RETURNING)));
        steps.fault(who, "cannot commit", returning);
    }

    private static Row met(Worker worker) {
        return Objects.requireNonNull(worker.met());
    }

    private static boolean isAsRead(Row row, Row met) {
        return row.status() == met.status()
                && row.claim() == met.claim()
                && (met.status() == Status.ABSENT || row.isOver())
                && row.fencedBy() < 0;
    }
}
