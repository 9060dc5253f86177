package io.exactlyonce.model;

import java.util.Comparator;

/**
 * Takes states for one that differ only in the names of workers or messages. Where it finds no order it leaves a state
 * as it is, which costs time, and no rule.
 */
final class Symmetry {

    private static final Comparator<Message> MESSAGES = Comparator.comparing(Message::transactional)
            .reversed()
            .thenComparing(Message::place)
            .thenComparing(Message::receives)
            .thenComparing(Message::hidden);

    private static final Comparator<Worker> WORKERS = Comparator.comparing(Worker::phase)
            .thenComparing(Worker::message)
            .thenComparing(Worker::attempt)
            .thenComparing(Worker::claim)
            .thenComparing(Worker::window)
            .thenComparing(Worker::lease)
            .thenComparing(worker -> worker.paused() ? 1 : 0);

    private Symmetry() {}

    static State normal(State state) {
        State ordered = MESSAGES.compare(state.first(), state.second()) > 0 ? messagesSwapped(state) : state;
        return WORKERS.compare(ordered.left(), ordered.right()) > 0 ? workersSwapped(ordered) : ordered;
    }

    /** Returns whether one becomes the other by other names. */
    static boolean areSame(State one, State other) {
        State swapped = messagesSwapped(one);
        return one.equals(other)
                || swapped.equals(other)
                || workersSwapped(one).equals(other)
                || workersSwapped(swapped).equals(other);
    }

    private static State messagesSwapped(State state) {
        return new State(
                state.row(),
                state.second(),
                state.first(),
                otherMessage(state.left()),
                otherMessage(state.right()),
                state.history(),
                state.faults());
    }

    private static Worker otherMessage(Worker worker) {
        return worker.equals(Worker.IDLE) ? worker : worker.of(1 - worker.message());
    }

    private static State workersSwapped(State state) {
        Row row = state.row();
        return new State(
                row.fencedBy() < 0 ? row : row.fenced(1 - row.fencedBy()),
                otherReceiver(state.first()),
                otherReceiver(state.second()),
                state.right(),
                state.left(),
                state.history(),
                state.faults());
    }

    private static Message otherReceiver(Message message) {
        return message.receiver() < 0 ? message : message.of(1 - message.receiver());
    }
}
