package io.exactlyonce.model;

import io.exactlyonce.model.Row.Status;
import io.exactlyonce.model.Worker.Phase;
import java.util.Objects;

/**
 * A worker claims the key of its message: it inserts a row, or reads a row and takes it over, and then gets the answer.
 */
final class ClaimMoves {

    private ClaimMoves() {}

    static void collect(State state, int who, Steps steps) {
        switch (state.worker(who).phase()) {
            case CLAIMING -> {
                claim(state, who, steps);
                getNoAnswer(state, who, steps);
            }
            case READ -> {
                write(state, who, Objects.requireNonNull(state.worker(who).met()), steps);
                askAgain(state, who, steps);
            }
            case ACQUIRED -> {
                answer(state, who, steps);
                askAgain(state, who, steps);
            }
            default -> {}
        }
    }

    /**
     * Repeats the claim at any time, with the same id and a lease that counts from the repetition. The repetition does
     * not count as a fault, however long the store is unavailable.
     */
    private static void askAgain(State state, int who, Steps steps) {
        steps.add(who, "gets no answer, and asks again", state.with(who, asking(state.worker(who))));
    }

    private static Worker asking(Worker worker) {
        return worker.to(Phase.CLAIMING).times(worker.window(), Steps.TICKS);
    }

    /**
     * The request gets no answer. An earlier try holds the lease, the try is late, or the worker has stopped repeating
     * the request.
     */
    private static void getNoAnswer(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        if (state.row().isHeldBy(worker.claim())) {
            State unanswered = state.with(who, worker.failing(true, worker.windowFails()));
            steps.fault(
                    who,
                    "gets no answer for as long as its lease",
                    unanswered.with(state.history().disturb()));
        }
        if (state.late() == 0 && steps.mode() != Mode.OTHER_CONTENT && steps.mode() != Mode.LIMITED) {
            steps.fault(who, "asks again, while an earlier try is on its way", state.withLate(worker.claim()));
        }
        steps.fault(who, "gets no answer, and gives up", state.with(who, worker.giveUp(Phase.RELEASING, false)));
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
        } else if (row.wasReleasedBy(worker.claim()) && steps.has(Guard.GIVEN_UP_CLAIM_STAYS_GIVEN_UP)) {
            // An operator released the key, after an earlier try of this claim had acquired it and lost it again.
            refuse(state, who, Status.HELD, steps);
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
            case COMPLETED -> {
                boolean other = isOther(state, who) && steps.has(Guard.OTHER_CONTENT_IS_RETURNED);
                steps.add(
                        who,
                        other ? "is told: completed with other content" : "is told: completed",
                        state.with(who, worker.letGo(other ? Phase.RETURNING : Phase.ACKNOWLEDGING)));
            }
            case PARKED -> steps.add(who, "is told: parked", state.with(who, worker.letGo(Phase.RETURNING)));
            default -> steps.add(who, "is told: held elsewhere", state.with(who, worker.letGo(heldElsewhere(steps))));
        }
    }

    /** Returns whether the key's row has the fingerprint of other content than this worker's message. */
    static boolean isOther(State state, int who) {
        return state.row().content() != 0
                && state.row().content() != state.worker(who).message() + 1;
    }

    static Phase heldElsewhere(Steps steps) {
        if (steps.lacks(Guard.DUPLICATE_WAITS_FOR_THE_HOLDER)) {
            return Phase.ACKNOWLEDGING;
        }
        return steps.has(Guard.WAITING_COSTS_NO_RECEIVE) ? Phase.WAITING : Phase.RETURNING;
    }

    /** Takes over the row that was read, if the row is unchanged. Otherwise claims again. */
    private static void write(State state, int who, Row met, Steps steps) {
        if (!isAsRead(state.row(), met, steps)) {
            Worker worker = state.worker(who);
            steps.add(who, "was too late", state.with(who, asking(worker)));
            steps.add(
                    who,
                    "was too late, and is told: held elsewhere",
                    state.with(who, worker.letGo(heldElsewhere(steps))));
        } else if (mustBeParked(met, steps)) {
            State parked = state.with(state.row().ended(Status.PARKED, true))
                    .with(who, state.worker(who).letGo(Phase.RETURNING));
            steps.add(who, "parks the key", parked, !met.cleared(), Rules.DECISION_STAYS);
        } else {
            acquire(state, who, met, "takes the key over", steps);
        }
    }

    private static boolean mustBeParked(Row met, Steps steps) {
        return met.status() != Status.ABSENT
                && met.isNextInDoubt()
                && steps.mode() == Mode.PARK
                && steps.has(Guard.DOUBT_IS_PARKED)
                && !(met.cleared() && steps.has(Guard.DECISION_STAYS));
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
        Worker worker = state.worker(who);
        State held = acquired(state, worker.claim(), met, worker.message(), steps);
        State next = held.with(who, worker.acquired(held.row().attempt()));
        boolean taken = holdsByItsOwnClock(state.other(who), state.row());
        boolean kept = !taken && held.row().token() > state.history().topToken();
        steps.add(who, what, next, kept, taken ? Rules.HOLDER_KEEPS_ITS_KEY : Rules.TOKENS_GROW);
    }

    /** @param message the message whose content the row then has */
    static State acquired(State state, int claim, Row met, int message, Steps steps) {
        boolean known = met.status() != Status.ABSENT;
        boolean doubt =
                known && (met.status() == Status.HELD && steps.has(Guard.TAKEOVER_TELLS_THE_DOUBT) || met.doubt());
        int content = steps.mode() == Mode.OTHER_CONTENT ? message + 1 : 0;
        int attempt = state.history().attempts() + 1;
        Row row = new Row(
                Status.HELD, claim, attempt, met.token() + 1, doubt, Steps.TICKS, -1, false, content, met.failures());
        return state.with(row).with(state.history().acquired(row.token(), doubt));
    }

    /** An earlier try of a claim that its worker has repeated or abandoned. No worker ever gets the answer. */
    static void arriveLate(State state, Steps steps) {
        Row row = state.row();
        int claim = state.late();
        State arrived = state.withLate(0);
        boolean givenUp = row.wasReleasedBy(claim);
        if (row.isHeldBy(claim)) {
            steps.arrivesLate(arrived.with(row.leased(Steps.TICKS)), true, "");
        } else if ((row.status() == Status.ABSENT || (mayTakeOver(row, steps) && row.fencedBy() < 0))
                && !(givenUp && steps.has(Guard.GIVEN_UP_CLAIM_STAYS_GIVEN_UP))) {
            State disturbed = arrived.with(state.history().disturb());
            State next = mustBeParked(row, steps)
                    ? disturbed.with(row.ended(Status.PARKED, true))
                    : acquired(disturbed, claim, row, 0, steps);
            boolean taken = holdsByItsOwnClock(state.worker(0), row) || holdsByItsOwnClock(state.worker(1), row);
            steps.arrivesLate(next, !taken && !givenUp, taken ? Rules.HOLDER_KEEPS_ITS_KEY : Rules.GIVEN_UP_STAYS_SO);
        } else {
            steps.arrivesLate(arrived, true, "");
        }
    }

    static boolean holdsByItsOwnClock(Worker other, Row row) {
        boolean acquired = other.phase() == Phase.ACQUIRED || other.phase().isHandler();
        return acquired && other.lease() > 0 && row.isHeldBy(other.claim());
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
            boolean allowed = state.row().failures() < EndMoves.MAX_ATTEMPTS;
            State handling = state.with(who, worker.to(Phase.HANDLING));
            steps.add(
                    who,
                    "begins its handler",
                    handling,
                    ours && allowed,
                    ours ? Rules.NO_ATTEMPT_AFTER_THE_LAST : Rules.HANDLER_BEGINS_UNDER_ITS_CLAIM);
        }
    }
}
