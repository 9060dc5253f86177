package io.exactlyonce.chaos.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** All events of a run in order, with views by key and of faults. */
public final class History {

    private final List<Event> events;
    private final Map<String, List<Event>> byKey = new LinkedHashMap<>();
    private final Faults faults;

    /**
     * Makes a history of recorded events.
     *
     * @throws IllegalArgumentException if the events are not in order
     */
    public History(List<Event> events) {
        this.events = List.copyOf(events);
        this.faults = Faults.of(this.events);
        long last = 0;
        for (Event event : this.events) {
            if (event.order() <= last) {
                throw new IllegalArgumentException("Event %d comes after %d: %s".formatted(event.order(), last, event));
            }
            last = event.order();
            byKey.computeIfAbsent(event.key(), key -> new ArrayList<>()).add(event);
        }
    }

    /** Reads the file of a {@link Recorder}. */
    public static History read(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return new History(lines.map(EventJson::read).toList());
        }
    }

    /** Returns all events. */
    public List<Event> events() {
        return events;
    }

    Event last() {
        return events.get(events.size() - 1);
    }

    /** Returns the last event that was recorded up to a time. */
    Event lastUntil(long micros) {
        return events.stream()
                .takeWhile(event -> event.micros() <= micros)
                .reduce(events.get(0), (earlier, later) -> later);
    }

    Stream<KeyHistory> keys() {
        return byKey.entrySet().stream()
                .filter(entry -> !entry.getKey().isEmpty())
                .map(entry -> new KeyHistory(entry.getKey(), entry.getValue()));
    }

    Faults faults() {
        return faults;
    }

    long count(Kind kind) {
        return events.stream().filter(event -> event.kind() == kind).count();
    }

    Optional<Event> first(Kind kind) {
        return events.stream().filter(event -> event.kind() == kind).findFirst();
    }
}
