package io.exactlyonce.model;

import io.exactlyonce.model.Message.Place;
import io.exactlyonce.model.Worker.Phase;
import java.util.stream.IntStream;

/**
 * The state of the whole system at one moment.
 *
 * @param first the message
 * @param second its duplicate, sent once more under the same key
 * @param late the claim whose earlier try has not arrived yet; 0 if there is none
 * @param seen the claim that a slow operator has seen parked, and is about to decide on; 0 if there is none
 * @param faults how many more faults may happen
 */
record State(
        Row row,
        Message first,
        Message second,
        Worker left,
        Worker right,
        int late,
        int seen,
        History history,
        int faults) {

    static final int WORKERS = 2;
    static final int MESSAGES = 2;

    static State initial(Mode mode, Bounds bounds) {
        Message first = Message.sent(bounds.receives(), mode == Mode.DATABASE || mode == Mode.MIXED);
        Message second = Message.sent(bounds.receives(), mode == Mode.DATABASE);
        return new State(Row.ABSENT, first, second, Worker.IDLE, Worker.IDLE, 0, 0, History.NONE, bounds.faults());
    }

    Worker worker(int who) {
        return who == 0 ? left : right;
    }

    Worker other(int who) {
        return worker(1 - who);
    }

    Message message(int which) {
        return which == 0 ? first : second;
    }

    Message messageOf(int who) {
        return message(worker(who).message());
    }

    /** Returns whether this worker's message has a listener whose effects are in the transaction that completes its key. */
    boolean isTransactional(int who) {
        return messageOf(who).transactional();
    }

    /** Returns whether the other worker has an open transaction, which holds the key's advisory lock. */
    boolean isLocked(int who) {
        return isTransactional(1 - who) && other(who).phase().isHandler();
    }

    /**
     * Returns whether one more tick would expire something that a healthy worker renews or finishes in time. If an
     * earlier try of the claim acquired a lease that the worker does not know of, the lease in the row counts.
     */
    boolean isInAHurry(int who) {
        Worker worker = worker(who);
        boolean hasNoAnswer = worker.phase() == Phase.CLAIMING || worker.phase() == Phase.RELEASING;
        int lease =
                hasNoAnswer && row.isHeldBy(worker.claim()) ? Math.min(worker.lease(), row.lease()) : worker.lease();
        return !worker.paused()
                && ((worker.window() == 1 && !worker.windowFails()) || (lease == 1 && !worker.leaseFails()));
    }

    State with(Row next) {
        return new State(next, first, second, left, right, late, seen, history, faults);
    }

    State with(History next) {
        return new State(row, first, second, left, right, late, seen, next, faults);
    }

    State withLate(int claim) {
        return new State(row, first, second, left, right, claim, seen, history, faults);
    }

    State withSeen(int claim) {
        return new State(row, first, second, left, right, late, claim, history, faults);
    }

    State with(int who, Worker next) {
        return who == 0
                ? new State(row, first, second, next, right, late, seen, history, faults)
                : new State(row, first, second, left, next, late, seen, history, faults);
    }

    State with(int which, Message next) {
        return which == 0
                ? new State(row, next, second, left, right, late, seen, history, faults)
                : new State(row, first, next, left, right, late, seen, history, faults);
    }

    State afterFault() {
        return new State(row, first, second, left, right, late, seen, history, faults - 1);
    }

    /** Returns whether both messages have left their queues and all work is done. */
    boolean isSettled() {
        return first.place() != Place.QUEUE
                && second.place() != Place.QUEUE
                && left.equals(Worker.IDLE)
                && right.equals(Worker.IDLE);
    }

    /** Returns an id for a request that no part of the state refers to. */
    int newClaim() {
        return IntStream.iterate(1, id -> id + 1)
                .filter(id -> !isKnown(id))
                .findFirst()
                .orElseThrow();
    }

    private boolean isKnown(int id) {
        return late == id || seen == id || row.claim() == id || left.knows(id) || right.knows(id);
    }
}
