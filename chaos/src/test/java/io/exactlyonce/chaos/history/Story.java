package io.exactlyonce.chaos.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A history that a test writes, with an event each millisecond. */
final class Story {

    static final Terms TERMS = new Terms(
            Duration.ofSeconds(60), Duration.ofSeconds(90), Duration.ofMillis(5), Duration.ofMillis(20), false);

    private final List<Event> events = new ArrayList<>();
    private long micros;

    Story tell(Event event) {
        micros += 1_000;
        events.add(event.recorded(events.size() + 1L, micros));
        return this;
    }

    Story after(Duration time) {
        micros += time.toNanos() / 1_000;
        return this;
    }

    Story tell(List<Event> all) {
        all.forEach(this::tell);
        return this;
    }

    Verdict end() {
        tell(Event.of(Kind.FAULTS_OVER)).tell(Event.of(Kind.DRAINED));
        return judge();
    }

    Verdict judge() {
        return judge(TERMS);
    }

    /** Judges the history as if claims were kept in DynamoDB. */
    Verdict judgeOfDynamoDb() {
        return judge(new Terms(TERMS.drain(), TERMS.longestDrain(), TERMS.recovery(), TERMS.exposure(), true));
    }

    private Verdict judge(Terms terms) {
        return new Checker(terms).judge(new History(events));
    }

    static Event sending(String key, String effects, String policy, Partner partner) {
        return Event.of(Kind.SENDING)
                .on(key)
                .with(Detail.EFFECTS, effects)
                .with(Detail.POLICY, policy)
                .with(Detail.PARTNER, partner);
    }

    static List<Event> sent(String key, String effects, String policy, Partner partner) {
        return List.of(
                sending(key, effects, policy, partner), Event.of(Kind.SENT).on(key));
    }

    static List<Event> external(String key) {
        return sent(key, "EXTERNAL", "RERUN", Partner.IGNORES_KEY);
    }

    static List<Event> grouped(String key, String group, int position) {
        return List.of(
                sending(key, "EXTERNAL", "RERUN", Partner.IGNORES_KEY)
                        .with(Detail.GROUP, group)
                        .with(Detail.POSITION, position),
                Event.of(Kind.SENT).on(key));
    }

    static List<Event> entered(String key, String call, int token, boolean inDoubt) {
        return List.of(
                Event.of(Kind.RECEIVED).by(workerOf(call)).on(key),
                Event.of(Kind.ENTERED)
                        .by(workerOf(call))
                        .on(key)
                        .in(call)
                        .with(Detail.TOKEN, token)
                        .with(Detail.ATTEMPT, token)
                        .with(Detail.IN_DOUBT, inDoubt));
    }

    /** A handler begins in observe mode. */
    static List<Event> observed(String key, String call) {
        return List.of(
                Event.of(Kind.RECEIVED).by(workerOf(call)).on(key),
                Event.of(Kind.OBSERVED).by(workerOf(call)).on(key).in(call));
    }

    static List<Event> checked(String key, String call) {
        return List.of(event(Kind.CHECKING, key, call), event(Kind.CHECKED, key, call));
    }

    static Event effect(String key, String call) {
        return Event.of(Kind.EFFECT).on(key).in(call);
    }

    static Event event(Kind kind, String key, String call) {
        return Event.of(kind).by(workerOf(call)).on(key).in(call);
    }

    /** The handler returns, its key is completed, and its message is deleted. */
    static List<Event> done(String key, String call) {
        return Stream.concat(deleted(key, call).stream(), Stream.of(state(key, "COMPLETED")))
                .toList();
    }

    /** The handler returns, and its message is deleted. */
    static List<Event> deleted(String key, String call) {
        return List.of(
                event(Kind.HANDLED, key, call),
                Event.of(Kind.ACKNOWLEDGING).by(workerOf(call)).on(key),
                Event.of(Kind.ACKNOWLEDGED).by(workerOf(call)).on(key));
    }

    /** An operator at another worker checks a parked claim's partner. */
    static Event deciding(String key, String claim, String operator) {
        return Event.of(Kind.DECIDING)
                .by(operator)
                .on(key)
                .with(Detail.CLAIM, claim)
                .with(Detail.DECISION, operator + "-" + claim);
    }

    /** The reply to an operator's decision. */
    static Event decided(Kind outcome, String key, String claim, String operator) {
        return Event.of(outcome)
                .by(operator)
                .on(key)
                .with(Detail.CLAIM, claim)
                .with(Detail.DECISION, operator + "-" + claim);
    }

    /** SQS delivers a message of the key. */
    static Event received(String key, String call, String message) {
        return Event.of(Kind.RECEIVED).by(workerOf(call)).on(key).with(Detail.MESSAGE, message);
    }

    static Event failed(String key, String call) {
        return event(Kind.FAILED, key, call).with(Detail.REASON, "the test wants it");
    }

    static Event state(String key, String status) {
        return Event.of(Kind.STATE).on(key).with(Detail.STATUS, status);
    }

    /** Each call has a worker of its own. */
    static String workerOf(String call) {
        return "worker-of-" + call;
    }

    static Event began(Fault fault, String call) {
        return fault(Kind.FAULT_BEGAN, fault).by(call.isEmpty() ? "" : workerOf(call));
    }

    static Event ended(Fault fault, String call) {
        return fault(Kind.FAULT_ENDED, fault).by(call.isEmpty() ? "" : workerOf(call));
    }

    private static Event fault(Kind kind, Fault fault) {
        return Event.of(kind).with(Detail.FAULT, fault);
    }

    static List<Event> killed(String call) {
        return List.of(began(Fault.KILL, call), ended(Fault.KILL, call));
    }
}
