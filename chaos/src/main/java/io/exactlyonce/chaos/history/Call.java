package io.exactlyonce.chaos.history;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One run of a handler.
 *
 * @param entered the run's first event
 * @param events all events of the run in order
 */
record Call(Event entered, List<Event> events) {

    String worker() {
        return entered.worker();
    }

    long token() {
        return entered.number(Detail.TOKEN);
    }

    boolean knowsOfDoubt() {
        return entered.is(Detail.IN_DOUBT);
    }

    Stream<Event> all(Kind kind) {
        return events.stream().filter(event -> event.kind() == kind);
    }

    /** Returns the run's first event of a kind. */
    Optional<Event> first(Kind kind) {
        return all(kind).findFirst();
    }

    boolean failedBefore(Event later) {
        return all(Kind.FAILED).anyMatch(failed -> failed.order() < later.order());
    }

    /** Returns the run's last check that passed and started before an event. */
    Optional<Event> lastCheckBefore(Event later) {
        boolean passed = false;
        for (int index = events.size() - 1; index >= 0; index--) {
            Event event = events.get(index);
            if (event.kind() == Kind.CHECKED && event.order() < later.order()) {
                passed = true;
            } else if (event.kind() == Kind.CHECKING && passed) {
                return Optional.of(event);
            }
        }
        return Optional.empty();
    }
}
