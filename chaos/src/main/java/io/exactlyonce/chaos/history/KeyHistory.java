package io.exactlyonce.chaos.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The events of one key.
 *
 * @param events all events of the key in order
 * @param calls the handler's runs under a claim, in the order of their starts; runs in observe mode are left out
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
        // A run whose first event is neither ENTERED nor OBSERVED is unsound, and SoundRule reports it.
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

    /**
     * Returns a detail of the event with which the harness sent the key's message; empty if the harness never sent one.
     */
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

    /** Returns the last event at which a worker had a message of the key, or SQS confirmed its deletion. */
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

    /** Returns the status of the key's row after the run; empty without a row. */
    String status() {
        return first(Kind.STATE).map(state -> state.detail(Detail.STATUS)).orElse("");
    }

    boolean isParkedOrDead() {
        return has(Kind.DEAD_LETTERED) || has(Kind.PARKED) || status().equals("PARKED");
    }

    boolean isCompleted() {
        return has(Kind.COMPLETED) || status().equals("COMPLETED");
    }

    /**
     * Returns when SQS delivered the key's first message for the last time. Later messages of the key have other ids.
     */
    Optional<Event> lastReceiveOfFirstMessage() {
        return first(Kind.RECEIVED)
                .flatMap(first -> all(Kind.RECEIVED)
                        .filter(event -> event.detail(Detail.MESSAGE).equals(first.detail(Detail.MESSAGE)))
                        .reduce((earlier, later) -> later));
    }

    /** Returns the outcome that an operator got as the reply to its decision, if known. */
    Optional<Event> outcomeOf(Event deciding) {
        return events.stream()
                .filter(event -> event.kind() != Kind.DECIDING
                        && !event.detail(Detail.DECISION).isEmpty())
                .filter(event -> event.detail(Detail.DECISION).equals(deciding.detail(Detail.DECISION)))
                .findFirst();
    }

    /** Returns the event since which a call's claim may have been committed: the last receive by the call's worker. */
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

    /**
     * Returns whether an operator may have released the key without seeing an attempt's effect: the operator looked
     * after the attempt had started, and the attempt acted later.
     */
    boolean mayBeReleasedUnseen(Call earlier, Event effect, Call later) {
        return all(Kind.DECIDING)
                .filter(deciding -> deciding.order() > earlier.entered().order())
                .filter(deciding -> deciding.order() < effect.order())
                .filter(deciding -> deciding.order() < later.entered().order())
                .anyMatch(deciding -> mayHaveLedTo(Kind.RELEASED, deciding));
    }

    /** Returns the first event that proves the key's completion during the run. */
    Optional<Event> firstDone() {
        return endings().filter(event -> !isObservedBy(event.worker())).findFirst();
    }

    /** Returns the first event after which no message of the key may remain, whether the key is completed or not. */
    Optional<Event> firstEnd() {
        return endings().findFirst();
    }

    private Stream<Event> endings() {
        return events.stream()
                .filter(event -> event.kind() == Kind.COMPLETED
                        || event.kind() == Kind.ACKNOWLEDGING
                        || event.kind() == Kind.ACKNOWLEDGED);
    }

    /** Returns whether a worker handles the key in observe mode. Its deletions do not prove a completion. */
    private boolean isObservedBy(String worker) {
        return all(Kind.OBSERVED).anyMatch(observed -> observed.worker().equals(worker));
    }

    /** Returns the events at which the key's handler returned in observe mode. */
    Stream<Event> handledInObserveMode() {
        return all(Kind.HANDLED)
                .filter(handled ->
                        all(Kind.OBSERVED).anyMatch(observed -> observed.call().equals(handled.call())));
    }

    /**
     * Returns whether the key's handler ran once, in observe mode, and no other worker ever had a message of the key.
     */
    boolean isObservedAlone() {
        return calls.isEmpty()
                && all(Kind.OBSERVED).count() == 1
                && all(Kind.RECEIVED).map(Event::worker).distinct().count() == 1;
    }

    /** Returns the event since which the completion that another event proves may have been committed. */
    Event completingFrom(Event done) {
        return events.stream()
                .filter(event -> event.kind() == Kind.HANDLED || event.kind() == Kind.DECIDING)
                .filter(event -> event.order() < done.order())
                .findFirst()
                .orElse(done);
    }

    /**
     * Returns the event that proves the latest claim before another event: the claim with the highest token of all that
     * were proved by then.
     */
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

    /**
     * Returns whether a call's claim is later than all claims that are proved before an event, so that the call is no
     * late zombie.
     */
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
