package io.exactlyonce.chaos.history;

import java.util.EnumMap;
import java.util.Map;

/**
 * One thing that happened. Made with {@link #of}, completed by what the kind needs, and given to a {@link Recorder} or
 * a {@link RecorderClient}, which puts it into the order of all events:
 *
 * <pre>{@code
 * recorder.record(Event.of(Kind.ENTERED).by("worker-3").on("orders/17").in(call)
 *         .with(Detail.TOKEN, claim.fencingToken())
 *         .with(Detail.ATTEMPT, claim.attempt())
 *         .with(Detail.IN_DOUBT, claim.isInDoubt()));
 * }</pre>
 *
 * @param order place in the history, from 1; 0 until it is recorded
 * @param micros microseconds from the recorder's start, on its monotonic clock; 0 until it is recorded
 * @param worker name of the worker's JVM, or empty for the harness
 * @param key idempotency key, unique over all scopes of the run (its scope is part of it), or empty
 * @param call run of a handler, unique in the history, or empty
 * @param details what else is recorded of it
 */
public record Event(
        long order, long micros, Kind kind, String worker, String key, String call, Map<Detail, String> details) {

    public Event {
        details = details.isEmpty() ? Map.of() : Map.copyOf(details);
    }

    /** Begins an event. */
    public static Event of(Kind kind) {
        return new Event(0, 0, kind, "", "", "", Map.of());
    }

    /** Returns this event with the worker's JVM that it happened in, or that it happened to. */
    public Event by(String worker) {
        return new Event(order, micros, kind, worker, key, call, details);
    }

    /** Returns this event with its idempotency key. */
    public Event on(String key) {
        return new Event(order, micros, kind, worker, key, call, details);
    }

    /** Returns this event with the handler's run that it happened in. */
    public Event in(String call) {
        return new Event(order, micros, kind, worker, key, call, details);
    }

    /** Returns this event with a further detail; {@code value} is recorded by its {@code toString}. */
    public Event with(Detail detail, Object value) {
        Map<Detail, String> more = new EnumMap<>(Detail.class);
        more.putAll(details);
        more.put(detail, value.toString());
        return new Event(order, micros, kind, worker, key, call, more);
    }

    /**
     * Returns this event at its place in a history.
     *
     * @throws IllegalArgumentException if it lacks what its kind needs
     */
    Event recorded(long order, long micros) {
        kind.check(this);
        return new Event(order, micros, kind, worker, key, call, details);
    }

    /** Returns a detail, or the empty text if the event lacks it. */
    public String detail(Detail detail) {
        return details.getOrDefault(detail, "");
    }

    /** Returns a detail as a number. */
    public long number(Detail detail) {
        return Long.parseLong(detail(detail));
    }

    /** Returns whether a detail is {@code true}. */
    public boolean is(Detail detail) {
        return Boolean.parseBoolean(detail(detail));
    }
}
