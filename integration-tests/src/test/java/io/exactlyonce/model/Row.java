package io.exactlyonce.model;

import java.util.function.UnaryOperator;

/**
 * The key's row in the database.
 *
 * @param claim the request that holds or held the key; 0 if there is none
 * @param attempt the number of acquisitions, which only the rules use
 * @param lease the remaining ticks of the lease
 * @param fencedBy the worker whose open transaction has locked the row, or -1
 * @param cleared whether an operator has released the key since; only for a released key
 * @param content the content whose fingerprint the row has: 1 for the first message, 2 for the other one, 0 if both
 *     have the same content
 * @param failures how many attempts threw, since the first attempt or an operator's last release; only with LIMITED
 */
record Row(
        Status status,
        int claim,
        int attempt,
        int token,
        boolean doubt,
        int lease,
        int fencedBy,
        boolean cleared,
        int content,
        int failures) {

    static final Row ABSENT = new Row(Status.ABSENT, 0, 0, 0, false, 0, -1, false, 0, 0);

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

    /**
     * Returns whether an attempt may have had effects that are not recorded. Call this only for a row whose claim is
     * over.
     */
    boolean isNextInDoubt() {
        return doubt || status == Status.HELD;
    }

    /** Returns whether the claim was the last one to hold the key and was released. */
    boolean wasReleasedBy(int who) {
        return status == Status.RELEASED && claim == who;
    }

    Row to(Status next) {
        return new Row(next, claim, attempt, token, doubt, 0, fencedBy, false, content, failures);
    }

    /** An operator lets the key run again, so its attempts count from zero. */
    Row released() {
        return new Row(Status.RELEASED, claim, attempt, token, doubt, 0, fencedBy, true, content, 0);
    }

    /** Counts an attempt that threw. */
    Row failed() {
        return failing(failures + 1);
    }

    Row failing(int count) {
        return new Row(status, claim, attempt, token, doubt, lease, fencedBy, cleared, content, count);
    }

    Row ended(Status next, boolean inDoubt) {
        return new Row(next, claim, attempt, token, inDoubt, 0, fencedBy, false, content, failures);
    }

    Row leased(int ticks) {
        return new Row(status, claim, attempt, token, doubt, ticks, fencedBy, cleared, content, failures);
    }

    Row named(UnaryOperator<Integer> names) {
        return new Row(status, names.apply(claim), attempt, token, doubt, lease, fencedBy, cleared, content, failures);
    }

    Row fenced(int worker) {
        return new Row(status, claim, attempt, token, doubt, lease, worker, cleared, content, failures);
    }

    /** Returns the same row with the names of the two messages swapped. */
    Row swapped() {
        return content == 0
                ? this
                : new Row(status, claim, attempt, token, doubt, lease, fencedBy, cleared, 3 - content, failures);
    }
}
