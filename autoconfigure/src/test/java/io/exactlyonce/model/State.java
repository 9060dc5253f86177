package io.exactlyonce.model;

import io.exactlyonce.model.Message.Place;
import java.util.stream.IntStream;

/**
 * All there is at one moment.
 *
 * @param first the message
 * @param second its duplicate, sent once more under the same key
 * @param faults how many more may happen
 */
record State(Row row, Message first, Message second, Worker left, Worker right, History history, int faults) {

    static final int WORKERS = 2;
    static final int MESSAGES = 2;

    static State initial(Mode mode, Bounds bounds) {
        Message first = Message.sent(bounds.receives(), mode == Mode.DATABASE || mode == Mode.MIXED);
        Message second = Message.sent(bounds.receives(), mode == Mode.DATABASE);
        return new State(Row.ABSENT, first, second, Worker.IDLE, Worker.IDLE, History.NONE, bounds.faults());
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

    /** Returns whether the other worker has a transaction open, and with it the key's advisory lock. */
    boolean isLocked(int who) {
        return isTransactional(1 - who) && other(who).phase().isHandler();
    }

    State with(Row next) {
        return new State(next, first, second, left, right, history, faults);
    }

    State with(History next) {
        return new State(row, first, second, left, right, next, faults);
    }

    State with(int who, Worker next) {
        return who == 0
                ? new State(row, first, second, next, right, history, faults)
                : new State(row, first, second, left, next, history, faults);
    }

    State with(int which, Message next) {
        return which == 0
                ? new State(row, next, second, left, right, history, faults)
                : new State(row, first, next, left, right, history, faults);
    }

    State afterFault() {
        return new State(row, first, second, left, right, history, faults - 1);
    }

    /** Returns whether each message is out of its queue, and all work is done. */
    boolean isSettled() {
        return first.place() != Place.QUEUE
                && second.place() != Place.QUEUE
                && left.equals(Worker.IDLE)
                && right.equals(Worker.IDLE);
    }

    /** Returns an id for a request that is remembered nowhere. */
    int newClaim() {
        return IntStream.iterate(1, id -> id + 1)
                .filter(id -> !isKnown(id))
                .findFirst()
                .orElseThrow();
    }

    private boolean isKnown(int id) {
        return row.claim() == id || left.knows(id) || right.knows(id);
    }
}
