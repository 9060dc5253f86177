package io.exactlyonce.model;

/**
 * A message on a standard queue.
 *
 * @param hidden ticks until it is visible
 * @param receives how many more times the message is received before SQS moves it to the dead-letter queue
 * @param receiver the worker that has its newest receipt, or -1
 * @param transactional whether its listener's effects are in the transaction that completes its key
 */
record Message(Place place, int hidden, int receives, int receiver, boolean transactional) {

    enum Place {
        QUEUE,
        DELETED,
        DEAD_LETTER_QUEUE
    }

    static Message sent(int receives, boolean transactional) {
        return new Message(Place.QUEUE, 0, receives, -1, transactional);
    }

    boolean isVisible() {
        return place == Place.QUEUE && hidden == 0;
    }

    Message hiddenFor(int ticks) {
        return new Message(place, ticks, receives, receiver, transactional);
    }

    Message of(int worker) {
        return new Message(place, hidden, receives, worker, transactional);
    }

    Message received(int worker, int window) {
        return new Message(place, window, receives - 1, worker, transactional);
    }

    /** Returns the message in its final state, without the details that no longer matter. */
    Message gone(Place where) {
        return new Message(where, 0, 0, -1, transactional);
    }
}
