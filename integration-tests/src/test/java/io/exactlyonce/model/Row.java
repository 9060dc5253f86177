package io.exactlyonce.model;

import java.util.function.UnaryOperator;

/**
 * The key's row in the database.
 *
 * @param claim which request holds or held it; 0 if there is none
 * @param attempt counts acquisitions; no part of the protocol, but what the rules speak of
 * @param lease ticks left
 * @param fencedBy the worker whose open transaction has locked the row, or -1
 */
record Row(Status status, int claim, int attempt, int token, boolean doubt, int lease, int fencedBy) {

    static final Row ABSENT = new Row(Status.ABSENT, 0, 0, 0, false, 0, -1);

    enum Status {
        ABSENT,
        HELD,
        COMPLETED,
        RELEASED,
        PARKED
    }

    boolean isHeldBy(int who) {
        return status == Status.HELD && claim == who;
    }

    boolean isOver() {
        return status == Status.RELEASED || (status == Status.HELD && lease == 0);
    }

    /** Returns whether an attempt may have had effects that are not recorded. Only for a row that is over. */
    boolean isNextInDoubt() {
        return doubt || status == Status.HELD;
    }

    Row to(Status next) {
        return new Row(next, claim, attempt, token, doubt, 0, fencedBy);
    }

    Row ended(Status next, boolean inDoubt) {
        return new Row(next, claim, attempt, token, inDoubt, 0, fencedBy);
    }

    Row leased(int ticks) {
        return new Row(status, claim, attempt, token, doubt, ticks, fencedBy);
    }

    Row named(UnaryOperator<Integer> names) {
        return new Row(status, names.apply(claim), attempt, token, doubt, lease, fencedBy);
    }

    Row fenced(int worker) {
        return new Row(status, claim, attempt, token, doubt, lease, worker);
    }
}
