package io.exactlyonce.chaos.history;

import java.util.EnumMap;
import java.util.Map;

/**
 * An event of a run. {@link #of} makes an event, and the following methods add the details that its kind requires. A
 * {@link Recorder} or a {@link RecorderClient} puts the event into the order of all events:
 *
 * <pre>{@code
 * recorder.record(Event.of(Kind.ENTERED).by("worker-3").on("orders/17").in(call)
 *         .with(Detail.TOKEN, claim.fencingToken())
 *         .with(Detail.ATTEMPT, claim.attempt())
 *         .with(Detail.IN_DOUBT, claim.isInDoubt()));
 * }</pre>
 *
 * @param order position in the history, counted from 1; 0 until the event is recorded
 * @param micros microseconds since the recorder's start, by its monotonic clock; 0 until the event is recorded
 * @param worker name of the worker's JVM, or empty for the harness
 * @param key idempotency key, which is unique in the run because it contains its scope, or empty
 * @param call run of a handler, unique in the history, or empty
 * @param details further details
 */
public record Event(
        long order, long micros, Kind kind, String worker, String key, String call, Map<Detail, String> details) {

    public Event {
        details = details.isEmpty() ? Map.of() : Map.copyOf(details);
    }

    /** Returns an event of a kind. */
    public static Event of(Kind kind) {
        return new Event(0, 0, kind, "", "", "", Map.of());
    }

    /** Returns this event with the worker's JVM in which, or to which, it happened. */
    public Event by(String worker) {
        return new Event(order, micros, kind, worker, key, call, details);
    }

    /** Returns this event with its idempotency key. */
    public Event on(String key) {
        return new Event(order, micros, kind, worker, key, call, details);
    }

    /** Returns this event with the handler's run in which it happened. */
    public Event in(String call) {
        return new Event(order, micros, kind, worker, key, call, details);
    }

    /** Returns this event with a further detail. {@code value} is recorded by its {@code toString}. */
    public Event with(Detail detail, Object value) {
        Map<Detail, String> more = new EnumMap<>(Detail.class);
        more.putAll(details);
        more.put(detail, value.toString());
        return new Event(order, micros, kind, worker, key, call, more);
    }

    /**
     * Returns this event with its position in a history.
     *
     * @throws IllegalArgumentException if the event lacks a part that its kind requires
     */
    Event recorded(long order, long micros) {
        kind.check(this);
        return new Event(order, micros, kind, worker, key, call, details);
    }

    /** Returns a detail, or an empty text if the event does not have it. */
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
