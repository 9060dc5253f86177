package io.exactlyonce.chaos.history;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A breach of an invariant.
 *
 * @param key the key, or empty
 * @param what the problem
 * @param events the events that prove the breach, in order
 */
public record Violation(Invariant invariant, String key, String what, List<Event> events) {

    public Violation {
        events = List.copyOf(events);
    }

    /** Returns several lines, one for each event. */
    @Override
    public String toString() {
        return events.stream()
                .map(event -> "%n    %s".formatted(event))
                .collect(Collectors.joining("", "%s %s: %s".formatted(invariant, key, what), ""));
    }
}
