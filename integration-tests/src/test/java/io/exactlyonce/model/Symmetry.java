package io.exactlyonce.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Treats states as one if they differ only in the names of workers or messages. A state with an ambiguous order stays
 * as it is, which costs time but breaks no rule.
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
        return named(WORKERS.compare(ordered.left(), ordered.right()) > 0 ? workersSwapped(ordered) : ordered);
    }

    /**
     * Names claims in the order of their places in the state, because the order of their requests no longer matters.
     */
    private static State named(State state) {
        List<Integer> names = new ArrayList<>(List.of(0));
        UnaryOperator<Integer> name = claim -> {
            if (!names.contains(claim)) {
                names.add(claim);
            }
            return names.indexOf(claim);
        };
        return new State(
                state.row().named(name),
                state.first(),
                state.second(),
                state.left().named(name),
                state.right().named(name),
                name.apply(state.late()),
                name.apply(state.seen()),
                state.history(),
                state.faults());
    }

    /** Returns whether renaming turns one state into the other. */
    static boolean areSame(State one, State other) {
        State wanted = named(other);
        State swapped = messagesSwapped(one);
        return Stream.of(one, swapped, workersSwapped(one), workersSwapped(swapped))
                .map(Symmetry::named)
                .anyMatch(wanted::equals);
    }

    private static State messagesSwapped(State state) {
        return new State(
                state.row().swapped(),
                state.second(),
                state.first(),
                otherMessage(state.left()),
                otherMessage(state.right()),
                state.late(),
                state.seen(),
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
                state.late(),
                state.seen(),
                state.history(),
                state.faults());
    }

    private static Message otherReceiver(Message message) {
        return message.receiver() < 0 ? message : message.of(1 - message.receiver());
    }
}
