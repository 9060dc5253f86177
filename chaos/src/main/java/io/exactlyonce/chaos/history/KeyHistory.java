package io.exactlyonce.chaos.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What happened to one key.
 *
 * @param events all of its events, in their order
 * @param calls its handler's runs under a claim, in the order in which they began; those in observe mode are left out
 */
record KeyHistory(String key, List<Event> events, List<Call> calls) {

    KeyHistory(String key, List<Event> events) {
        this(key, events, callsOf(events));
    }

    private static List<Call> callsOf(List<Event> events) {
        Map<String, List<Event>> byCall = new LinkedHashMap<>();
        for (Event event : events) {
            if (!event.call().isEmpty()) {
                byCall.computeIfAbsent(event.call(), call -> new ArrayList<>()).add(event);
            }
        }
        // A run whose first event is neither this one nor OBSERVED is unsound, and SoundRule says so.
        return byCall.values().stream()
                .filter(run -> run.get(0).kind() == Kind.ENTERED)
                .map(run -> new Call(run.get(0), run))
                .toList();
    }

    Stream<Event> all(Kind kind) {
        return events.stream().filter(event -> event.kind() == kind);
    }

    boolean has(Kind kind) {
        return all(kind).findAny().isPresent();
    }

    Optional<Event> first(Kind kind) {
        return all(kind).findFirst();
    }

    /** Returns what the harness said of the key when it sent its message; empty if it never did. */
    String promise(Detail detail) {
        return first(Kind.SENDING).map(sending -> sending.detail(detail)).orElse("");
    }

    boolean isInDatabase() {
        return promise(Detail.EFFECTS).equals("DATABASE");
    }

    /** Returns whether its messages have no key for their listener. */
    boolean isMissing() {
        return !promise(Detail.WHEN_KEY_MISSING).isEmpty();
    }

    boolean isSkipped() {
        return promise(Detail.WHEN_KEY_MISSING).equals("SKIP");
    }

    boolean isOfAnAction() {
        return promise(Detail.ACTION).equals("true");
    }

    /** Returns the last event at which a worker had a message of the key, or its delete was confirmed. */
    Optional<Event> lastAtAWorker() {
        return events.stream()
                .filter(event -> event.kind() == Kind.RECEIVED || event.kind() == Kind.ACKNOWLEDGED)
                .reduce((earlier, later) -> later);
    }

    boolean has(Partner partner) {
        return promise(Detail.PARTNER).equals(partner.name());
    }

    boolean has(String policy) {
        return promise(Detail.POLICY).equals(policy);
    }

    /** Returns the status of its row after the run; empty without a row. */
    String status() {
        return first(Kind.STATE).map(state -> state.detail(Detail.STATUS)).orElse("");
    }

    boolean isParkedOrDead() {
        return has(Kind.DEAD_LETTERED) || has(Kind.PARKED) || status().equals("PARKED");
    }

    boolean isCompleted() {
        return has(Kind.COMPLETED) || status().equals("COMPLETED");
    }

    /** Returns when SQS handed the key's first message out for the last time: later messages of it have other ids. */
    Optional<Event> lastReceiveOfFirstMessage() {
        return first(Kind.RECEIVED)
                .flatMap(first -> all(Kind.RECEIVED)
                        .filter(event -> event.detail(Detail.MESSAGE).equals(first.detail(Detail.MESSAGE)))
                        .reduce((earlier, later) -> later));
    }

    /** Returns what an operator was told of its decision, if it is known. */
    Optional<Event> outcomeOf(Event deciding) {
        return events.stream()
                .filter(event -> event.kind() != Kind.DECIDING
                        && !event.detail(Detail.DECISION).isEmpty())
                .filter(event -> event.detail(Detail.DECISION).equals(deciding.detail(Detail.DECISION)))
                .findFirst();
    }

    /** Returns the event since which a call's claim may have been committed: the last receive by its worker. */
    Event claimingFrom(Call call) {
        return all(Kind.RECEIVED)
                .filter(received -> received.worker().equals(call.worker()))
                .filter(received -> received.order() < call.entered().order())
                .reduce((earlier, later) -> later)
                .orElse(call.entered());
    }

    private boolean mayHaveLedTo(Kind outcome, Event deciding) {
        return outcomeOf(deciding).map(Event::kind).orElse(outcome) == outcome;
    }

    /** Returns whether an operator may have decided, before an event, that the effect had happened. */
    boolean mayBeDecidedDone(Event before) {
        return all(Kind.DECIDING)
                .filter(deciding -> deciding.order() < before.order())
                .anyMatch(deciding -> mayHaveLedTo(Kind.COMPLETED, deciding));
    }

    /** Returns whether an operator who may have released the key looked when an attempt that acts later had begun, and not acted. */
    boolean mayBeReleasedUnseen(Call earlier, Event effect, Call later) {
        return all(Kind.DECIDING)
                .filter(deciding -> deciding.order() > earlier.entered().order())
                .filter(deciding -> deciding.order() < effect.order())
                .filter(deciding -> deciding.order() < later.entered().order())
                .anyMatch(deciding -> mayHaveLedTo(Kind.RELEASED, deciding));
    }

    /** Returns the first event that proves the key completed while the run went on. */
    Optional<Event> firstDone() {
        return endings().filter(event -> !isObservedBy(event.worker())).findFirst();
    }

    /** Returns the first event after which no message of the key may be left, whether the key is completed or not. */
    Optional<Event> firstEnd() {
        return endings().findFirst();
    }

    private Stream<Event> endings() {
        return events.stream()
                .filter(event -> event.kind() == Kind.COMPLETED
                        || event.kind() == Kind.ACKNOWLEDGING
                        || event.kind() == Kind.ACKNOWLEDGED);
    }

    /** Returns whether a worker handles the key in observe mode: what it deletes proves no completion. */
    private boolean isObservedBy(String worker) {
        return all(Kind.OBSERVED).anyMatch(observed -> observed.worker().equals(worker));
    }

    /** Returns the returns of its handler's runs in observe mode. */
    Stream<Event> handledInObserveMode() {
        return all(Kind.HANDLED)
                .filter(handled ->
                        all(Kind.OBSERVED).anyMatch(observed -> observed.call().equals(handled.call())));
    }

    /** Returns whether its handler ran once, in observe mode, and no other worker ever had a message of the key. */
    boolean isObservedAlone() {
        return calls.isEmpty()
                && all(Kind.OBSERVED).count() == 1
                && all(Kind.RECEIVED).map(Event::worker).distinct().count() == 1;
    }

    /** Returns the event since which the completion may have been committed that another event proves. */
    Event completingFrom(Event done) {
        return events.stream()
                .filter(event -> event.kind() == Kind.HANDLED || event.kind() == Kind.DECIDING)
                .filter(event -> event.order() < done.order())
                .findFirst()
                .orElse(done);
    }

    /** Returns the event that proves the latest claim of all that were proved before an event, by the greatest token. */
    Optional<Event> latestClaimBefore(Event later) {
        Optional<Event> latest = Optional.empty();
        for (Event event : events) {
            if (event.order() >= later.order()) {
                break;
            }
            if (provesClaim(event)
                    && latest.map(known -> known.number(Detail.TOKEN) < event.number(Detail.TOKEN))
                            .orElse(true)) {
                latest = Optional.of(event);
            }
        }
        return latest;
    }

    /** Returns whether a call's claim came after everything that claims before an event prove: it is no late zombie. */
    boolean isClaimedAfter(Call call, Event event) {
        return call.entered().order() > event.order()
                && latestClaimBefore(event)
                        .map(known -> known.number(Detail.TOKEN) < call.token())
                        .orElse(true);
    }

    private static boolean provesClaim(Event event) {
        return event.kind() == Kind.ENTERED || event.kind() == Kind.CLAIMED;
    }
}
