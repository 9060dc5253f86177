package io.exactlyonce.model;

import io.exactlyonce.model.Message.Place;
import io.exactlyonce.model.Row.Status;
import io.exactlyonce.model.Worker.Phase;

/** Steps that record an attempt and then settle its message. */
final class EndMoves {

    /** The attempt limit of mode LIMITED. */
    static final int MAX_ATTEMPTS = 2;

    private EndMoves() {}

    static void collect(State state, int who, Steps steps) {
        switch (state.worker(who).phase()) {
            case COMPLETING -> complete(state, who, steps);
            case RELEASING -> giveUp(state, who, Status.RELEASED, steps);
            case PARKING -> giveUp(state, who, Status.PARKED, steps);
            case FAILING -> fail(state, who, steps);
            case ACKNOWLEDGING -> acknowledge(state, who, steps);
            case RETURNING -> giveBack(state, who, steps);
            case WAITING -> look(state, who, steps);
            default -> {}
        }
    }

    private static void complete(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        Row row = state.row();
        boolean again = row.status() == Status.COMPLETED && row.claim() == worker.claim();
        boolean ours = row.isHeldBy(worker.claim());
        boolean blind = row.status() == Status.HELD && steps.lacks(Guard.COMPLETION_NAMES_ITS_CLAIM);
        if (again || ours || blind) {
            State completed = state.with(row.to(Status.COMPLETED));
            State end = completed.with(who, worker.letGo(Phase.ACKNOWLEDGING));
            steps.add(who, "completes", end, again || ours, Rules.STALE_WRITES_CHANGE_NOTHING);
            steps.fault(who, "completes, and loses the reply", afterLostReply(completed, who, steps));
        } else if (steps.has(Guard.ACKNOWLEDGED_ONCE_COMPLETED)) {
            steps.add(who, "completes too late, and leaves its message alone", state.with(who, Worker.IDLE));
        } else {
            steps.add(who, "completes too late", state.with(who, worker.letGo(Phase.ACKNOWLEDGING)));
        }
        steps.fault(who, "gets no answer to its completion", afterLostReply(state, who, steps));
    }

    private static State afterLostReply(State state, int who, Steps steps) {
        return steps.has(Guard.COMPLETION_IS_REPEATED_UNTIL_ANSWERED)
                ? state
                : state.with(who, state.worker(who).giveUp(Phase.RELEASING, false));
    }

    private static void giveUp(State state, int who, Status status, Steps steps) {
        Worker worker = state.worker(who);
        Row row = state.row();
        boolean ours = row.isHeldBy(worker.claim());
        Guard guard = status == Status.PARKED ? Guard.PARKING_NAMES_ITS_CLAIM : Guard.RELEASE_NAMES_ITS_CLAIM;
        String verb = status == Status.PARKED ? "parks" : "releases";
        State next = state.with(who, worker.letGo(Phase.RETURNING));
        if (ours || (row.status() == Status.HELD && steps.lacks(guard))) {
            boolean doubt = worker.doubt() || (row.doubt() && steps.has(Guard.DOUBT_STAYS));
            Row ended = row.ended(status, doubt);
            steps.add(who, verb + " its claim", next.with(ended), ours, Rules.STALE_WRITES_CHANGE_NOTHING);
            steps.fault(who, verb + " its claim, and loses the reply", state.with(ended));
        } else {
            steps.add(who, verb + " nothing, for its claim is lost", next);
        }
        steps.fault(
                who,
                "gets no answer when it " + verb + " its claim",
                next.with(state.history().disturb()));
    }

    /** The failure count that came with the claim equals the count in the row, as long as the claim holds the key. */
    private static void fail(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        Row row = state.row();
        boolean ours = row.isHeldBy(worker.claim());
        boolean again = row.wasReleasedBy(worker.claim()) && steps.lacks(Guard.FAILURE_IS_COUNTED_ONCE);
        State next = state.with(who, worker.letGo(Phase.RETURNING));
        if (ours || again) {
            boolean last = row.failures() + 1 >= MAX_ATTEMPTS && steps.has(Guard.LAST_FAILURE_PARKS);
            Row failed = row.ended(last ? Status.PARKED : Status.RELEASED, row.doubt())
                    .failed();
            String what = last ? "parks its key, for that was its last attempt" : "releases its claim as failed";
            steps.add(who, what, next.with(failed), ours, Rules.FAILURES_ARE_OF_ATTEMPTS_THAT_THREW);
            steps.fault(who, what + ", and loses the reply", state.with(failed));
        } else {
            steps.add(who, "counts nothing, for its claim has ended or is lost", next);
        }
        steps.fault(
                who, "gets no answer to its failure", next.with(state.history().disturb()));
    }

    /** On a standard queue, a delete with an old receipt handle may or may not delete the message. */
    private static void acknowledge(State state, int who, Steps steps) {
        int which = state.worker(who).message();
        State done = state.with(who, Worker.IDLE);
        steps.add(
                who,
                "deletes its message",
                done.with(which, state.message(which).gone(Place.DELETED)));
        if (state.message(which).receiver() != who) {
            steps.add(who, "deletes its message without effect, by an old receipt", done);
        }
        steps.fault(who, "cannot delete its message", done);
    }

    private static void giveBack(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        State done = state.with(who, Worker.IDLE);
        if (worker.window() == 0 && steps.has(Guard.RETURNED_WITHIN_THE_WINDOW)) {
            steps.add(who, "leaves its message to its window", done);
            return;
        }
        Message message = state.messageOf(who);
        State visible = message.place() == Place.QUEUE ? done.with(worker.message(), message.hiddenFor(0)) : done;
        boolean ours = message.place() != Place.QUEUE || message.receiver() == who;
        steps.add(who, "returns its message", visible, ours, Rules.MESSAGE_IS_ITS_NEWEST_RECEIVERS);
        steps.fault(who, "cannot return its message", done);
    }

    private static void look(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        if (worker.window() == 0) {
            steps.add(who, "stops waiting, for its window is over", state.with(who, Worker.IDLE));
            return;
        }
        switch (state.row().status()) {
            case COMPLETED -> {
                boolean other = ClaimMoves.isOther(state, who) && steps.has(Guard.WAITER_SEES_THE_CONTENT);
                steps.add(
                        who,
                        other ? "sees the completion with other content" : "sees the completion",
                        state.with(who, worker.to(other ? Phase.RETURNING : Phase.ACKNOWLEDGING)));
            }
            case PARKED -> steps.add(who, "sees that the key is parked", state.with(who, worker.to(Phase.RETURNING)));
            default -> {
                if (isFree(state, who, steps) && steps.has(Guard.FREE_KEY_ENDS_THE_WAIT)) {
                    steps.add(who, "sees that the key is free", state.with(who, worker.to(Phase.RETURNING)));
                }
            }
        }
    }

    private static boolean isFree(State state, int who, Steps steps) {
        Row row = state.row();
        return !state.isLocked(who)
                && row.fencedBy() < 0
                && (row.status() == Status.ABSENT
                        || (row.isOver()
                                && (row.status() == Status.RELEASED
                                        || steps.has(Guard.VANISHED_HOLDER_LOSES_ITS_KEY))));
    }
}
