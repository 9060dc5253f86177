package io.exactlyonce.chaos.history;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A breach of an invariant.
 *
 * @param key the key that it happened to, or empty
 * @param what what is wrong
 * @param events the events that prove it, in their order
 */
public record Violation(Invariant invariant, String key, String what, List<Event> events) {

    public Violation {
        events = List.copyOf(events);
    }

    /** In several lines: an event each. */
    @Override
    public String toString() {
        return events.stream()
                .map(event -> "%n    %s".formatted(event))
                .collect(Collectors.joining("", "%s %s: %s".formatted(invariant, key, what), ""));
    }
}
