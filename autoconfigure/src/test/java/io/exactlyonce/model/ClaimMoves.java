package io.exactlyonce.model;

import io.exactlyonce.model.Row.Status;
import io.exactlyonce.model.Worker.Phase;
import java.util.Objects;

/** A worker claims the key of its message: an insert, or the read of a row and its takeover, and the answer. */
final class ClaimMoves {

    private ClaimMoves() {}

    static void collect(State state, int who, Steps steps) {
        switch (state.worker(who).phase()) {
            case CLAIMING -> claim(state, who, steps);
            case READ ->
                write(state, who, Objects.requireNonNull(state.worker(who).met()), steps);
            case ACQUIRED -> answer(state, who, steps);
            default -> {}
        }
    }

    private static void claim(State state, int who, Steps steps) {
        Row row = state.row();
        Worker worker = state.worker(who);
        if (row.status() == Status.ABSENT) {
            if (steps.has(Guard.FIRST_CLAIM_IS_ONE_STEP)) {
                acquire(state, who, row, "inserts its claim", steps);
            } else {
                steps.add(who, "finds no row", state.with(who, worker.reading(row)));
            }
        } else if (row.isHeldBy(worker.claim()) && steps.has(Guard.RETRY_FINDS_ITS_OWN_CLAIM)) {
            State again = state.with(row.leased(Steps.TICKS)).with(who, worker.acquired(row.attempt()));
            steps.add(who, "finds its own claim", again);
        } else if (mayTakeOver(row, steps)) {
            steps.add(who, "reads a row that is free", state.with(who, worker.reading(row)));
        } else {
            refuse(state, who, row.status(), steps);
        }
    }

    static boolean mayTakeOver(Row row, Steps steps) {
        return switch (row.status()) {
            case RELEASED -> true;
            case HELD ->
                steps.lacks(Guard.TAKEOVER_WAITS_FOR_THE_LEASE)
                        || (row.lease() == 0 && steps.has(Guard.VANISHED_HOLDER_LOSES_ITS_KEY));
            case COMPLETED -> steps.lacks(Guard.COMPLETED_KEY_STAYS_COMPLETED);
            default -> false;
        };
    }

    static void refuse(State state, int who, Status status, Steps steps) {
        Worker worker = state.worker(who);
        switch (status) {
            case COMPLETED -> steps.add(who, "is told: completed", state.with(who, worker.letGo(Phase.ACKNOWLEDGING)));
            case PARKED -> steps.add(who, "is told: parked", state.with(who, worker.letGo(Phase.RETURNING)));
            default -> steps.add(who, "is told: held elsewhere", state.with(who, worker.letGo(heldElsewhere(steps))));
        }
    }

    static Phase heldElsewhere(Steps steps) {
        if (steps.lacks(Guard.DUPLICATE_WAITS_FOR_THE_HOLDER)) {
            return Phase.ACKNOWLEDGING;
        }
        return steps.has(Guard.WAITING_COSTS_NO_RECEIVE) ? Phase.WAITING : Phase.RETURNING;
    }

    /** Writes what was read to be free, unless it has changed since; then it claims anew. */
    private static void write(State state, int who, Row met, Steps steps) {
        if (!isAsRead(state.row(), met, steps)) {
            steps.add(who, "was too late", state.with(who, state.worker(who).to(Phase.CLAIMING)));
        } else if (met.status() != Status.ABSENT
                && met.isInDoubt()
                && steps.mode() == Mode.PARK
                && steps.has(Guard.DOUBT_IS_PARKED)) {
            State parked = state.with(state.row().ended(Status.PARKED, true));
            steps.add(who, "parks the key", parked.with(who, state.worker(who).letGo(Phase.RETURNING)));
        } else {
            acquire(state, who, met, "takes the key over", steps);
        }
    }

    private static boolean isAsRead(Row row, Row met, Steps steps) {
        if (met.status() == Status.ABSENT) {
            return true;
        }
        boolean same = row.claim() == met.claim() || steps.lacks(Guard.TAKEOVER_NAMES_THE_CLAIM_THAT_WAS_READ);
        boolean over = row.isOver()
                || steps.lacks(Guard.TAKEOVER_ASKS_FOR_THE_LEASE_AGAIN)
                || steps.lacks(Guard.TAKEOVER_WAITS_FOR_THE_LEASE)
                || steps.lacks(Guard.COMPLETED_KEY_STAYS_COMPLETED);
        boolean open = row.fencedBy() < 0 || steps.lacks(Guard.TAKEOVER_LEAVES_FENCED_ROWS);
        return row.status() == met.status() && same && over && open;
    }

    private static void acquire(State state, int who, Row met, String what, Steps steps) {
        boolean known = met.status() != Status.ABSENT;
        boolean doubt =
                known && (met.status() == Status.HELD && steps.has(Guard.TAKEOVER_TELLS_THE_DOUBT) || met.doubt());
        int token = met.token() + 1;
        int attempt = state.history().attempts() + 1;
        Worker worker = state.worker(who);
        Row row = new Row(Status.HELD, worker.claim(), attempt, token, doubt, Steps.TICKS, -1);
        State next =
                state.with(row).with(state.history().acquired(token, doubt)).with(who, worker.acquired(attempt));
        boolean taken = holdsByItsOwnClock(state.other(who), state.row());
        boolean kept = !taken && token > state.history().topToken();
        steps.add(who, what, next, kept, taken ? Rules.HOLDER_KEEPS_ITS_KEY : Rules.TOKENS_GROW);
    }

    static boolean holdsByItsOwnClock(Worker other, Row row) {
        boolean begun = other.phase() == Phase.ACQUIRED || other.phase().isHandler();
        return begun && other.lease() > 0 && row.isHeldBy(other.claim());
    }

    private static void answer(State state, int who, Steps steps) {
        Worker answered = state.worker(who);
        Worker worker = steps.has(Guard.LEASE_COUNTS_FROM_BEFORE_THE_CALL)
                ? answered
                : answered.times(answered.window(), Steps.TICKS);
        if (worker.lease() == 0 && steps.has(Guard.HANDLER_BEGINS_WITHIN_THE_LEASE)) {
            steps.add(who, "learns of its claim too late", state.with(who, worker.giveUp(Phase.RELEASING, false)));
        } else {
            boolean ours = state.row().isHeldBy(worker.claim());
            State begun = state.with(who, worker.to(Phase.HANDLING));
            steps.add(who, "begins its handler", begun, ours, Rules.HANDLER_BEGINS_UNDER_ITS_CLAIM);
        }
        State unheard = state.with(who, answered.to(Phase.CLAIMING));
        steps.fault(who, "loses the claim's reply, and asks again", unheard);
    }
}
